export {};
//# sourceMappingURL=disk-full.test.d.ts.map