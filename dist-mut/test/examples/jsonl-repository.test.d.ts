export {};
//# sourceMappingURL=jsonl-repository.test.d.ts.map