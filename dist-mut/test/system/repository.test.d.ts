export {};
//# sourceMappingURL=repository.test.d.ts.map