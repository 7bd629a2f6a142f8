export {};
//# sourceMappingURL=jwt-verifier.test.d.ts.map