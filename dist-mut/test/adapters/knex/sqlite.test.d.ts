export {};
//# sourceMappingURL=sqlite.test.d.ts.map