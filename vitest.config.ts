/**
 * `unit` is pure and ends in seconds. `real` stands on sockets, processes and the embedded store, and shares
 * its loaded modules among files. `apart` is like it, with a process for each file.
 * `long` is what soaks: farms, crashes, several hosts, the whole database suite, other languages.
 */
import { globSync, readFileSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';

/** Suites that open no socket, process, worker or database; `npm run test:unit` runs them alone. */
const UNIT = [
  'test/checks/**/*.test.ts',
  'test/cli/formatters/**/*.test.ts',
  'test/cli/{diff-command,progress,scan-options,select-results,thresholds}.test.ts',
  'test/engine/catalog/**/*.test.ts',
  'test/engine/{read-verdict,score}.test.ts',
  'test/golden/golden-table.test.ts',
  'test/limits/origin-turns.test.ts',
  'test/buyers/advise.test.ts',
  'test/parse/{json,openapi,text,x402}/**/*.test.ts',
  'test/words/**/*.test.ts',
  'test/tools/{dependencies,lint,new-version,write-catalog}.test.ts',
];

/**
 * nock replaces the sockets of its process for good (`chain-clients.mjs` imports it), and spies replace what
 * suites behind them use.
 */
const REPLACES_PARTS = /from 'nock'|chain-clients\.mjs|vi\.(mock|spyOn)\(/;
const APART = [
  'test/{guard,probe}/**/*.test.ts',
  ...globSync('test/**/*.test.ts').filter((file) =>
    REPLACES_PARTS.test(readFileSync(file, 'utf8')),
  ),
];

const LONG = [
  'test/attestation/python-judges.test.ts',
  'test/bench/**/*.test.ts',
  'test/census/farm.test.ts',
  'test/ci/{action,gitlab}.test.ts',
  'test/cli/loaded-modules.test.ts',
  'test/crash/**/*.test.ts',
  'test/hostile/**/*.test.ts',
  'test/hosts/**/*.test.ts',
  'test/http/abuse/{idle-connections,slow-clients}.test.ts',
  'test/http/pages/accessibility.test.ts',
  'test/sellers/**/*.test.ts',
  'test/http/{feed-judge,schema-fuzz}.test.ts',
  'test/mcp/{judges,python-client}.test.ts',
  'test/pack/**/*.test.ts',
  'test/patches/{guards,programs}.test.ts',
  'test/buyers/second-judge.test.ts',
  'test/payment/{chaos,failing-node,python-client,several-hosts,tries}.test.ts',
  'test/probe/client/fuzz.test.ts',
  'test/scan/{growth,turns,hostile-origins,poison,real-mcp-seller,real-sellers}.test.ts',
  'test/tools/upstream.test.ts',
  'test/watch/{hosts-killed,kills,many-watches,python-judges}.test.ts',
  'test/store/sqlite-speed.test.ts',
  'test/store/{mongo,mongo-counts,mongo-instances,mongo-outage,mongo-races,mongo-statistics}.test.ts',
];

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
        test: { name: 'unit', include: UNIT, pool: 'threads', isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...UNIT, ...APART, ...LONG],
          ...FORKS,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: APART,
          exclude: [...configDefaults.exclude, ...UNIT, ...LONG],
          ...FORKS,
        },
      },
      {
        extends: true,
        test: { name: 'long', include: LONG, ...FORKS },
      },
    ],
  },
});
