export {};
//# sourceMappingURL=static-token-verifier.test.d.ts.map