export {};
//# sourceMappingURL=power-cut.test.d.ts.map