export {};
//# sourceMappingURL=lines.test.d.ts.map