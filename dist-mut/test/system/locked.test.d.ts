export {};
//# sourceMappingURL=locked.test.d.ts.map