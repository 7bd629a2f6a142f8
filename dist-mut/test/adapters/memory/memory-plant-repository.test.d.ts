export {};
//# sourceMappingURL=memory-plant-repository.test.d.ts.map