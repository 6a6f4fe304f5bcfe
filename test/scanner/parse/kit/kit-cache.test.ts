/** The kit parses each text once and gives the result to all checks. */
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../../src/scanner/parse/json/json.ts';
import { createKit } from '../../../../src/scanner/parse/kit/kit.ts';
import {
  answer,
  manifestDocument,
  ORIGIN,
  perfectSeller,
} from '../../../fixtures/observations/build-observations.ts';

describe('the text', () => {
  test.each([
    ['USDC', 'USDC'],
    ['\ud800', '\ud800'],
    [undefined, 'missing'],
    [null, 'null'],
    [5, '5'],
    [JSON.parse('{"toString":1,"valueOf":1}'), '{"toString":1,"valueOf":1}'],
    [JSON.parse('{"__proto__":{"toString":1}}'), '{"__proto__":{"toString":1}}'],
    [[{ toString: null }], '[{"toString":null}]'],
  ])('of %j is %j', (value, text) => {
    expect(createKit().text(value)).toBe(text);
  });
});

describe('the terms of a manifest', () => {
  test('with thousands of entries are found without a search through all entries for each resource', () => {
    const otherPaths = Array.from({ length: 40_000 }, (_, at) => `/${at % 10}`);
    const entries = [...otherPaths, { url: `${ORIGIN}/weather`, price: 0.02 }];
    const { kit, facts, challenged } = readManifest(entries);
    const cpuBefore = process.threadCpuUsage();
    for (let round = 0; round < 100; round += 1) {
      const { prices } = kit.manifestTerms(facts, ORIGIN, challenged);
      expect(prices).toEqual([
        { pointer: '/resources/40000', stated: '0.02', live: '10000', agrees: false },
      ]);
    }
    const { user } = process.threadCpuUsage(cpuBefore);
    expect(user / 1_000_000).toBeLessThan(3);
  });

  test('are read in the order of the document, by path and by template', () => {
    const { kit, facts, challenged } = readManifest([
      { url: '/{city}', price: '0.01' },
      { url: '/weather', price: '0.03' },
      { url: '/weather', method: 'POST', price: '0.04' },
      { url: '/{city}', price: '0.05' },
    ]);
    const resource = { ...challenged.resource, template: '/{city}' };
    const { prices } = kit.manifestTerms(facts, ORIGIN, { ...challenged, resource });
    const pointers = prices.map(({ pointer }) => pointer);
    expect(pointers).toEqual(['/resources/0', '/resources/1', '/resources/3']);
  });
});

/** Reads a seller whose manifest has these entries. */
function readManifest(resources: readonly JsonValue[]) {
  const kit = createKit();
  const seller = perfectSeller();
  const [challenged] = kit.challenged(seller.resources);
  const manifest = answer(200, manifestDocument({ endpoints: undefined, resources }));
  const reading = kit.manifest({ ...seller, manifest });
  if (challenged === undefined) throw new Error('the seller sends no challenge');
  if (reading.state !== 'found') throw new Error('no manifest was found');
  return { kit, facts: reading.facts, challenged };
}
