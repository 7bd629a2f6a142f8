export {};
//# sourceMappingURL=dependency-rule.test.d.ts.map