export {};
//# sourceMappingURL=round-trip.test.d.ts.map