export {};
//# sourceMappingURL=rejection.test.d.ts.map