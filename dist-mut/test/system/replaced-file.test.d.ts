export {};
//# sourceMappingURL=replaced-file.test.d.ts.map