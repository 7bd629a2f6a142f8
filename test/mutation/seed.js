import fc from 'fast-check';

// The same tests kill the same mutants in each run.
fc.configureGlobal({ seed: 1 });
