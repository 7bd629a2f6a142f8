export {};
//# sourceMappingURL=plant-repository.js.map