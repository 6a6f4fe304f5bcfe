import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Real servers, chains and browsers on shared machines: generous, and never part of a verdict.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    // The default is one second, which a slow machine takes to do anything at all.
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
  },
});
