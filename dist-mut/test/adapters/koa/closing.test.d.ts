export {};
//# sourceMappingURL=closing.test.d.ts.map