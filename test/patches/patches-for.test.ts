/** Which finding takes which patch, and what it is filled in with. */
import { describe, expect, test } from 'vitest';
import { listCatalogs, loadCatalog } from '../../src/engine/catalog/catalog.ts';
import { discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { type Patch, STACKS } from '../../src/patches/patch.ts';
import {
  PLACEHOLDERS,
  placeholderValues,
  readPatchValues,
} from '../../src/patches/patch-values.ts';
import { patchesFor } from '../../src/patches/patches-for.ts';
import { CHECK_TOPICS } from '../../src/patches/topics.ts';
import { HOSTILE_PATHS, PAY_TO, report } from './reports.ts';

const checks = await discoverChecks();
const catalog = await loadCatalog((await listCatalogs()).at(-1) ?? '', { checks });
const SELLERS_OWN = catalog.checks.filter(({ category }) => category !== 'directory');

function codeOf(patch: Patch | undefined): string {
  if (patch === undefined || 'whyNot' in patch) return '';
  return patch.parts.map(({ file, code }) => `${file}\n${code}`).join('\n');
}

describe.each(SELLERS_OWN.map(({ id, impl }) => [id, impl] as const))('%s', (id, impl) => {
  test.each(STACKS)('has a patch for %s, or one line why not', (stack) => {
    const found = patchesFor(id, stack, placeholderValues(id));
    expect(found?.patches.length).toBeGreaterThan(0);
    for (const { patch } of found?.patches ?? []) {
      if ('whyNot' in patch) expect(patch.whyNot).toMatch(/^[^\n]{20,150}$/);
      else for (const { code } of patch.parts) expect(code).toMatch(/\S\n$/);
    }
  });

  test('has one patch for each outcome, and names no outcome that it has not', () => {
    const outcomes = checks.find((one) => one.impl === impl)?.definition.outcomes ?? [];
    expect(outcomes.length).toBeGreaterThan(1);
    for (const outcome of outcomes) {
      expect(patchesFor(id, 'express', PLACEHOLDERS, outcome)?.patches).toHaveLength(1);
    }
    const { byOutcome = {}, notByCode = {} } = CHECK_TOPICS[id] ?? {};
    expect(outcomes).toEqual(expect.arrayContaining(Object.keys({ ...byOutcome, ...notByCode })));
  });
});

test('nothing for standing: others serve what it looks at', () => {
  expect(patchesFor('D1', 'express', PLACEHOLDERS)).toBeNull();
});

test('every stack but nginx mends all that is code', () => {
  for (const { id } of SELLERS_OWN.filter((one) => one.id !== 'P1')) {
    for (const stack of STACKS.filter((one) => one !== 'nginx')) {
      const patches = patchesFor(id, stack, PLACEHOLDERS)?.patches ?? [];
      expect(patches.filter(({ patch }) => 'whyNot' in patch)).toEqual([]);
    }
  }
});

describe('values', () => {
  test('are those of the resource that the finding names', () => {
    expect(readPatchValues(report({}), 'P3')).toMatchObject({
      ...{ origin: 'https://api.example.com', host: 'api.example.com', network: 'eip155:8453' },
      ...{ method: 'POST', path: '/summaries', price: '0.02', payTo: PAY_TO },
    });
    expect(readPatchValues(report({}), 'P8')).toMatchObject({ method: 'GET', path: '/weather' });
    expect(readPatchValues(report({}), 'S5')).toMatchObject({ method: 'POST', price: '0.02' });
    expect(readPatchValues(report({}), 'S3')).toMatchObject({ freePath: '/health' });
  });

  test.each([
    ['1', '0.000001'],
    ['1000000', '1'],
    ['12340000', '12.34'],
    ['0', PLACEHOLDERS.price],
    ['0.05', PLACEHOLDERS.price],
  ])('an amount of %s is %s dollars', (amount, price) => {
    expect(readPatchValues(report({ amount }), 'P8').price).toBe(price);
  });

  test('stay placeholders where a report does not know them', () => {
    const { origin, host, ...others } = readPatchValues(
      { origin: 'https://api.example.com', payability: null, results: [] },
      'P3',
    );
    expect(others).toEqual({ ...PLACEHOLDERS, origin: undefined, host: undefined });
    expect({ origin, host }).toEqual({
      origin: 'https://api.example.com',
      host: 'api.example.com',
    });
  });

  test.each(['\n', '\u202e', '\u0000', '\u2028'])('with %j in them stay placeholders', (odd) => {
    const read = report({ path: `/a${odd}b`, network: `eip155:${odd}1` });
    expect(readPatchValues(read, 'P8')).toMatchObject({
      ...{ path: PLACEHOLDERS.path, network: PLACEHOLDERS.network, price: PLACEHOLDERS.price },
    });
  });

  test('a recipient that P7 faults is none to copy', () => {
    const { results, ...rest } = report({});
    const faulted = results.map((one) => ({ ...one, outcome: 'bad-checksum' }));
    expect(readPatchValues({ ...rest, results: faulted }, 'P3').payTo).toBe(PLACEHOLDERS.payTo);
  });
});

test.each(HOSTILE_PATHS)('nginx and names of files get no %j', (path) => {
  const values = readPatchValues(report({ path }), 'P8');
  for (const topicCheck of ['P4', 'P5']) {
    const found = patchesFor(topicCheck, 'nginx', values);
    for (const { patch } of found?.patches ?? []) {
      expect(codeOf(patch)).not.toMatch(/__import__|process|passwd|\/a/);
    }
  }
  for (const { patch } of patchesFor('P8', 'next', values)?.patches ?? []) {
    if ('whyNot' in patch) throw new Error(patch.whyNot);
    expect(patch.parts.map(({ file }) => file)).toEqual(['app/<route>/route.ts']);
  }
});
