export {};
//# sourceMappingURL=galera.test.d.ts.map