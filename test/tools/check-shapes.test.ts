import { describe, expect, test } from 'vitest';
import { defineCheck, pass } from '../../src/engine/define-check.ts';
import { shapeBreaches } from '../../tools/lint/check-outcomes.ts';

const CHECK = defineCheck({
  id: 'A1',
  version: 1,
  says: {
    right: 'All is as it should be.',
    wrong: 'Something is missing.',
    unjudged: 'It is not known.',
  },
  needs: ['root'],
  requires: [],
  outcomes: { seen: pass('Keep it.') },
  evaluate: () => ['seen', '1 of 1'],
});

test('a well-formed check has no finding', () => {
  expect(shapeBreaches(CHECK)).toEqual([]);
});

describe('lint names each malformed member of a check', () => {
  test.each([
    ['no needs', { needs: [] }, 'needs is empty: a check judges at least one observation'],
    ['an unknown need', { needs: ['clock'] }, 'needs "clock", which is not an observation'],
    ['no outcomes', { outcomes: [] }, 'outcomes is empty'],
    [
      'no sentence',
      { says: { ...CHECK.says, right: 'fine' } },
      'says "fine": write one sentence of 12 to 120 characters',
    ],
    [
      'an odd outcome',
      { outcomes: ['No H1'] },
      'outcome "No H1" must be lower-case words with hyphens',
    ],
    ['an outcome twice', { outcomes: ['a', 'b', 'a'] }, '"a" is listed twice'],
    ['a need twice', { needs: ['root', 'root'] }, '"root" is listed twice'],
    [
      'an outcome of the engine',
      { outcomes: ['limits'] },
      'outcome "limits" belongs to the engine; leave it out of the list',
    ],
  ])('%s', (_, change, message) => {
    // Check files are JavaScript when they are published, so their members can be anything.
    expect(shapeBreaches({ ...CHECK, ...change } as typeof CHECK)).toEqual([message]);
  });
});
