export {};
//# sourceMappingURL=stop.test.d.ts.map