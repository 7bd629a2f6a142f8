export {};
//# sourceMappingURL=durability.test.d.ts.map