import { describe, expect, test } from 'vitest';
import {
  defineCheck,
  type Found,
  fail,
  listed,
  notApplicable,
  pass,
  worst,
  worstOf,
} from '../../src/engine/define-check.ts';
import { createKit } from '../../src/parse/kit/kit.ts';
import {
  answer,
  perfectSeller,
  resource,
  resources,
} from '../fixtures/observations/build-observations.ts';

const OUTCOMES = {
  none: notApplicable('Do nothing.'),
  wrong: fail('Mend it.'),
  right: pass('Keep it.'),
};
type Name = keyof typeof OUTCOMES;

function check(found: Found<Name>) {
  return defineCheck({
    id: 'A1',
    version: 1,
    says: {
      right: 'All is as it should be.',
      wrong: 'Something is missing.',
      unjudged: 'It is not known.',
    },
    needs: ['origin'],
    requires: [],
    outcomes: OUTCOMES,
    evaluate: () => found,
  });
}

function evaluated(found: Found<Name>) {
  return check(found).evaluate(perfectSeller(), createKit());
}

describe('a finding gets from its row of the table', () => {
  test('its status, basis and fix', () => {
    expect(evaluated(['wrong', 'GET /: 500'])).toEqual({
      status: 'fail',
      basis: 'measured',
      outcome: 'wrong',
      evidence: 'GET /: 500',
      fix: 'Mend it.',
    });
  });

  test('its fix, unless the check gives another', () => {
    expect(evaluated(['wrong', 'GET /: 500', 'Turn it on.']).fix).toBe('Turn it on.');
  });

  test('the first words of its evidence if it is not applicable', () => {
    expect(evaluated(['none', '0 of 2']).evidence).toBe('Not applicable: 0 of 2');
  });

  test('its order', () => {
    expect(check(['right', '1']).outcomes).toEqual(['none', 'wrong', 'right']);
  });

  test('no name that the table does not have', () => {
    // @ts-expect-error A typo does not compile.
    const typo: Found<Name> = ['wrnog', 'GET /: 500'];
    expect(() => evaluated(typo)).toThrow('"wrnog" is not in the check\'s list');
    // @ts-expect-error An inherited name does not compile.
    expect(() => evaluated(['toString', 'GET /'])).toThrow('"toString"');
  });
});

describe('the worst of many findings', () => {
  test('is the first of the table that occurs; the others are left out', () => {
    const found: Found<Name>[][] = [
      [['right', 'a']],
      [['wrong', 'b', 'Own fix.']],
      [],
      [['wrong', 'c']],
    ];
    expect(worst(OUTCOMES, found)).toEqual(['wrong', '2 of 4: b; c', 'Own fix.']);
    expect(worst(OUTCOMES, [[], []])).toBeNull();
  });

  test('shows three, and counts the rest', () => {
    expect(listed(['a', 'b', 'c'])).toBe('a; b; c');
    expect(listed(['a', 'b', 'c', 'd', 'e'])).toBe('a; b; c; 2 more');
  });

  const ask = (probed: Parameters<typeof resources>[0], found: readonly Found<Name>[]) =>
    worstOf(
      OUTCOMES,
      resources(probed),
      createKit(),
      () => found,
      (count) => ['right', count],
    );

  test('names the request of each finding', () => {
    const two = [resource(), resource({ path: '/other' })];
    expect(ask(two, [['wrong', '/accepts: []']])).toEqual([
      'wrong',
      '2 of 2: GET /weather /accepts: []; GET /other /accepts: []',
      undefined,
    ]);
  });

  test('counts the judged resources if nothing is wrong', () => {
    const silent = resource({ path: '/other', get: answer(200), head: answer(200) });
    expect(ask([resource(), silent], [])).toEqual(['right', '1 of 2 resources']);
  });

  test('is not determined if the scan saw no challenge', () => {
    const found = ask([resource({ get: answer(200), head: answer(200) })], []);
    expect(found).toMatchObject({ basis: 'not_determined', outcome: 'unseen' });
  });
});
