/**
 * A suite names its project. `*.unit.test.ts` is pure and ends in seconds. `*.test.ts` stands on sockets, processes
 * and the embedded store, and shares its loaded modules among files. `*.apart.test.ts` is like it, with a process for
 * each file: nock and spies replace what suites behind them use. `*.long.test.ts` is what soaks: farms, crashes,
 * several hosts, the whole database suite, other languages.
 */
import { configDefaults, defineConfig } from 'vitest/config';

/**
 * V8 never replaces a wrapper between WebAssembly and JavaScript: where several threads run, V8 13.6 now and then
 * aborts as it frees a replaced one (https://github.com/nodejs/node/issues/64500).
 */
const FORKS = {
  pool: 'forks' as const,
  execArgv: ['--wasm-wrapper-tiering-budget=2147483647'],
};

export default defineConfig({
  test: {
    // Real servers, chains and browsers on shared machines: generous, and never part of a verdict.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    // The default is one second, which a slow machine takes to do anything at all.
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.unit.test.ts'],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/**/*.{unit,apart,long}.test.ts'],
          ...FORKS,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'apart', include: ['test/**/*.apart.test.ts'], ...FORKS } },
      { extends: true, test: { name: 'long', include: ['test/**/*.long.test.ts'], ...FORKS } },
    ],
  },
});
