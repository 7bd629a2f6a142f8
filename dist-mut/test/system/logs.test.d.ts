export {};
//# sourceMappingURL=logs.test.d.ts.map