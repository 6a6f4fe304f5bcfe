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
} from '../../../src/scanner/engine/define-check.ts';
import { createKit } from '../../../src/scanner/parse/kit/kit.ts';
import {
  answer,
  perfectSeller,
  resource,
  resources,
} from '../../fixtures/observations/build-observations.ts';

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

function evaluateWith(found: Found<Name>) {
  return check(found).evaluate(perfectSeller(), createKit());
}

describe('a finding gets from its row of the table', () => {
  test('its status, basis and fix', () => {
    expect(evaluateWith(['wrong', 'GET /: 500'])).toEqual({
      status: 'fail',
      basis: 'measured',
      outcome: 'wrong',
      evidence: 'GET /: 500',
      fix: 'Mend it.',
    });
  });

  test('its fix, unless the check gives another', () => {
    expect(evaluateWith(['wrong', 'GET /: 500', 'Turn it on.']).fix).toBe('Turn it on.');
  });

  test('the first words of its evidence if it is not applicable', () => {
    expect(evaluateWith(['none', '0 of 2']).evidence).toBe('Not applicable: 0 of 2');
  });

  test('the order of its outcomes', () => {
    expect(check(['right', '1']).outcomes).toEqual(['none', 'wrong', 'right']);
  });

  test('an error if the table has no row of its name', () => {
    // @ts-expect-error A typo does not compile.
    const typo: Found<Name> = ['wrnog', 'GET /: 500'];
    expect(() => evaluateWith(typo)).toThrow('"wrnog" is not in the check\'s list');
    // @ts-expect-error An inherited name does not compile.
    expect(() => evaluateWith(['toString', 'GET /'])).toThrow('"toString"');
  });
});

describe('the worst of many findings', () => {
  test('has the first outcome of the table that occurs, and evidence of this outcome only', () => {
    const found: Found<Name>[][] = [
      [['right', 'a']],
      [['wrong', 'b', 'Own fix.']],
      [],
      [['wrong', 'c']],
    ];
    expect(worst(OUTCOMES, found)).toEqual(['wrong', '2 of 4: b; c', 'Own fix.']);
    expect(worst(OUTCOMES, [[], []])).toBeNull();
  });

  test('shows three pieces of evidence, and counts the rest', () => {
    expect(listed(['a', 'b', 'c'])).toBe('a; b; c');
    expect(listed(['a', 'b', 'c', 'd', 'e'])).toBe('a; b; c; 2 more');
  });

  const findWorst = (probed: Parameters<typeof resources>[0], found: readonly Found<Name>[]) =>
    worstOf(
      OUTCOMES,
      resources(probed),
      createKit(),
      () => found,
      (count) => ['right', count],
    );

  test('names the request of each finding', () => {
    const twoResources = [resource(), resource({ path: '/other' })];
    expect(findWorst(twoResources, [['wrong', '/accepts: []']])).toEqual([
      'wrong',
      '2 of 2: GET /weather /accepts: []; GET /other /accepts: []',
      undefined,
    ]);
  });

  test('counts the judged resources if nothing is wrong', () => {
    const unpaid = resource({ path: '/other', get: answer(200), head: answer(200) });
    expect(findWorst([resource(), unpaid], [])).toEqual(['right', '1 of 2 resources']);
  });

  test('is not determined if the scan saw no challenge', () => {
    const found = findWorst([resource({ get: answer(200), head: answer(200) })], []);
    expect(found).toMatchObject({ basis: 'not_determined', outcome: 'unseen' });
  });
});
