/** Runs vitest once, as a child of `run-tests.ts`, and ends with a line that counts the results. */
import { parseCLI, type Reporter, startVitest } from 'vitest/node';
import { summarise, type TestSummary, toLastLine } from './test-summary.ts';

// A run that ends before it counts anything is a failure.
let summary: TestSummary = { passed: 0, failed: 1, skipped: 0, skips: [] };
const counter: Reporter = {
  onTestRunEnd(modules, strayErrors) {
    summary = summarise(modules, strayErrors);
  },
};

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
try {
  const isWhole = filter.length === 0 && options.project === undefined;
  const vitest = await startVitest('test', filter, {
    ...options,
    ...(isWhole ? { project: ['!long'] } : {}),
    run: true,
    watch: false,
    reporters: ['default', counter],
  });
  await vitest.close();
} catch (error) {
  console.error(error);
  summary = { ...summary, failed: Math.max(1, summary.failed) };
}

if (summary.passed + summary.failed === 0) {
  console.error('No test ran: a file filter must be part of the path of a file test/**/*.test.ts.');
}
// With -t, vitest skips all other tests, although they lack nothing.
if (options.testNamePattern === undefined) for (const line of summary.skips) console.log(line);
console.log(toLastLine(summary));
// Exits explicitly, because a handle that a test left open must not keep the run alive.
process.exit(summary.failed > 0 || summary.passed === 0 ? 1 : 0);
