export {};
//# sourceMappingURL=import-export.test.d.ts.map