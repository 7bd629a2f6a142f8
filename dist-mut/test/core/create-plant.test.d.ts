export {};
//# sourceMappingURL=create-plant.test.d.ts.map