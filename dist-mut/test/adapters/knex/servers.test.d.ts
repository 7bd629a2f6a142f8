export {};
//# sourceMappingURL=servers.test.d.ts.map