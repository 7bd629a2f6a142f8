export {};
//# sourceMappingURL=import-plants.test.d.ts.map