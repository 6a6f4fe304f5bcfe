import { describe, expect, test } from 'vitest';
import { explainCommand } from '../../src/cli/explain-command.ts';
import { collector } from './collector.ts';

async function explain(...args: readonly string[]): Promise<string> {
  const { streams, written } = collector();
  expect(await explainCommand(args, streams)).toBe(0);
  return written();
}

describe('explain', () => {
  test('tells why, rule, fix, source and outcomes of a check', async () => {
    const text = await explain('P6');
    expect(text.split('\n')[0]).toMatch(/^P6 price-integrity \(major, protocol, P6@\d+\)$/);
    for (const heading of ['WHY', 'RULE', 'FIX', 'SOURCE'])
      expect(text).toContain(`\n${heading}\n`);
    expect(text).toMatch(/\nOutcomes, first match wins: [a-z0-9-]+(?:, [a-z0-9-]+)+\n$/);
  });

  test('takes the id in lower case', async () => {
    expect(await explain('s10')).toBe(await explain('S10'));
  });

  test.each([
    [['P99'], 'P99: no such check; there are P1, P2,'],
    [['P'], 'no such check'],
    [[], 'usage'],
    [['P1', 'P2'], 'usage'],
  ])('refuses %j', async (args, words) => {
    await expect(explainCommand(args, collector().streams)).rejects.toThrow(words);
  });
});
