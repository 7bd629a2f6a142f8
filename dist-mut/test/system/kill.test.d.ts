export {};
//# sourceMappingURL=kill.test.d.ts.map