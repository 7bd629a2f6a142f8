export {};
//# sourceMappingURL=plant.test.d.ts.map