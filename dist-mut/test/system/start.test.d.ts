export {};
//# sourceMappingURL=start.test.d.ts.map