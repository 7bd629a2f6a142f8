export {};
//# sourceMappingURL=read-plants.test.d.ts.map