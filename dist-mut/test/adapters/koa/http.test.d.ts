export {};
//# sourceMappingURL=http.test.d.ts.map