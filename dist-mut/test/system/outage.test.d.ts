export {};
//# sourceMappingURL=outage.test.d.ts.map