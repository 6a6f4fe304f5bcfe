import { describe, expect, test } from 'vitest';
import { defineCheck, pass } from '../../src/scanner/engine/define-check.ts';
import { listShapeBreaches } from '../../tools/lint/check-outcomes.ts';

const WELL_FORMED_CHECK = defineCheck({
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
  expect(listShapeBreaches(WELL_FORMED_CHECK)).toEqual([]);
});

describe('lint refuses a check', () => {
  test.each([
    ['no needs', { needs: [] }, 'needs is empty: a check judges at least one observation'],
    ['an unknown need', { needs: ['clock'] }, 'needs "clock", which is not an observation'],
    ['no outcomes', { outcomes: [] }, 'outcomes is empty'],
    [
      'words that are not a sentence',
      { says: { ...WELL_FORMED_CHECK.says, right: 'fine' } },
      'says "fine": write one sentence of 12 to 120 characters',
    ],
    [
      'an outcome in upper case',
      { outcomes: ['No H1'] },
      'outcome "No H1" must be lower-case words with hyphens',
    ],
    ['an outcome that is listed twice', { outcomes: ['a', 'b', 'a'] }, '"a" is listed twice'],
    ['a need that is listed twice', { needs: ['root', 'root'] }, '"root" is listed twice'],
    [
      'an outcome that belongs to the engine',
      { outcomes: ['limits'] },
      'outcome "limits" belongs to the engine; leave it out of the list',
    ],
  ])('with %s', (_case, change, message) => {
    // Check files are JavaScript when they are published, so their members can be anything.
    expect(
      listShapeBreaches({ ...WELL_FORMED_CHECK, ...change } as typeof WELL_FORMED_CHECK),
    ).toEqual([message]);
  });
});
