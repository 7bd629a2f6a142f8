export {};
//# sourceMappingURL=batching-plant-repository.test.d.ts.map