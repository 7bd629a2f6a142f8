export {};
//# sourceMappingURL=plant-codec.test.d.ts.map