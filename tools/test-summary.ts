import type { TestCase, TestModule, TestSuite } from 'vitest/node';

export type TestSummary = {
  passed: number;
  /** Failed tests, tests that never finished, and errors outside of any test. */
  failed: number;
  skipped: number;
  /** A line for each skipped suite or test, with what it lacked. */
  skips: string[];
};

/** Counts results. An error outside of tests counts as a failure, because it can hide tests. */
export function summarise(modules: readonly TestModule[], stray: readonly unknown[]): TestSummary {
  const summary = { passed: 0, failed: stray.length, skipped: 0, skips: [] };
  for (const module of modules) addSuite(module, module.relativeModuleId, summary);
  return summary;
}

/** The line that `npm test` ends with; outside programs read it. */
export function toLastLine({ passed, failed, skipped }: TestSummary): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function addSuite(suite: TestModule | TestSuite, path: string, summary: TestSummary): void {
  summary.failed += suite.errors().length;
  const { lacks } = suite.meta();
  if (lacks !== undefined) {
    const tests = [...suite.children.allTests()].length;
    summary.skipped += tests;
    summary.skips.push(`skipped ${path} (${tests} tests): ${lacks}`);
    return;
  }
  for (const child of suite.children) {
    if (child.type === 'test') addTest(child, path, summary);
    else addSuite(child, `${path} > ${child.name}`, summary);
  }
}

function addTest(test: TestCase, path: string, summary: TestSummary): void {
  const result = test.result();
  if (result.state === 'passed') {
    summary.passed += 1;
  } else if (result.state === 'skipped') {
    summary.skipped += 1;
    summary.skips.push(`skipped ${path} > ${test.name}: ${result.note ?? 'no reason given'}`);
  } else {
    summary.failed += 1;
  }
}
