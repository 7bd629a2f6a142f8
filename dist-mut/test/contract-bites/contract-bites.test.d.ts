export {};
//# sourceMappingURL=contract-bites.test.d.ts.map