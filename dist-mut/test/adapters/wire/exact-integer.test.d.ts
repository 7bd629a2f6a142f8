export {};
//# sourceMappingURL=exact-integer.test.d.ts.map