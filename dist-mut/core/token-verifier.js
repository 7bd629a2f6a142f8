export {};
//# sourceMappingURL=token-verifier.js.map