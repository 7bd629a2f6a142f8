export {};
//# sourceMappingURL=poison.test.d.ts.map