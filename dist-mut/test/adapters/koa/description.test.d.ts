export {};
//# sourceMappingURL=description.test.d.ts.map