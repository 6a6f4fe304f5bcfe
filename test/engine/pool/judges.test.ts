/** Checks judged together say what they say alone; a failure among them is judged again by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DiscoveredCheck } from '../../../src/engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../../../src/engine/pool/pool.ts';
import type { Observations } from '../../../src/model/observations.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';
import { type FixtureChecks, fixtureChecks, named } from '../fixtures/fixture-checks.ts';

const SELLER = perfectSeller();

let checks: FixtureChecks;
let pool: Pool;

beforeAll(async () => {
  checks = await fixtureChecks();
  pool = createPool({ threads: 1, cpuMs: 500, wallMs: 50_000 });
});
afterAll(() => pool.close());

function seenBy(some: readonly DiscoveredCheck[]): Partial<Observations> {
  const needs = some.flatMap(({ definition }) => definition.needs);
  return Object.fromEntries(needs.map((name) => [name, SELLER[name]]));
}

/** The outcomes, by title, of those that were judged together. */
async function together(...titles: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const some = titles.map((title) => named(checks, title));
  const verdicts = await pool.judgeTogether(some, seenBy(some), pool.openScan());
  return Object.fromEntries(
    some.flatMap(({ title, impl }) => {
      const verdict = verdicts.get(impl);
      return verdict ? [[title, verdict.outcome]] : [];
    }),
  );
}

test('each sees what it needs and no more, frozen, as it does alone', async () => {
  for (const title of ['plain', 'mutates']) {
    const check = named(checks, title);
    const alone = await pool.judge(check, seenBy([check]), pool.openScan());
    expect(await together('plain', 'mutates')).toMatchObject({ [title]: alone.outcome });
  }
});

test.each(['throws', 'endless-loop'])(
  'none is said of one that fails (%s), nor of those behind it',
  async (title) => {
    const said = await together('plain', title, 'mutates');
    expect(said).not.toHaveProperty(title);
    expect(said).not.toHaveProperty('mutates');
    // The thread is as good as before.
    expect(await together('plain')).toEqual({ plain: 'seen' });
  },
);

test('an account that is heavy, or spent, is not tried for so many at once', async () => {
  const check = named(checks, 'plain');
  const heavy = pool.openScan();
  heavy.origin.markHeavy();
  expect(await pool.judgeTogether([check], seenBy([check]), heavy)).toEqual(new Map());
  const spent = pool.openScan();
  spent.origin.exhaust();
  await expect(pool.judgeTogether([check], seenBy([check]), spent)).rejects.toThrow(
    'processor time',
  );
});
