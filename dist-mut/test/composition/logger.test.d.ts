export {};
//# sourceMappingURL=logger.test.d.ts.map