export {};
//# sourceMappingURL=entry-points.test.d.ts.map