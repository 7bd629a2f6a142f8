export {};
//# sourceMappingURL=node-test-contract.d.ts.map