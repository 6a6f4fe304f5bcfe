/** The kit parses each text once and gives the result to all checks. */
import { describe, expect, test } from 'vitest';
import { createKit } from '../../../../src/scanner/parse/kit/kit.ts';
import {
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
  const { resources } = perfectSeller();

  test('with thousands of entries are found without a search through all entries for each resource', () => {
    const kit = createKit();
    const [challenged] = kit.challenged(resources);
    if (challenged === undefined) throw new Error('the seller sends no challenge');
    const otherPaths = Array.from({ length: 40_000 }, (_, at) => `/${at % 10}`);
    const reading = kit.manifest({
      ...perfectSeller(),
      manifest: manifestAnswer({
        resources: [...otherPaths, { url: `${ORIGIN}/weather`, price: 0.02 }],
      }),
    });
    if (reading.state !== 'found') throw new Error('no manifest was found');
    const cpuBefore = process.threadCpuUsage();
    for (let round = 0; round < 100; round += 1) {
      const { prices } = kit.manifestTerms(reading.facts, ORIGIN, challenged);
      expect(prices).toEqual([
        { pointer: '/resources/40000', stated: '0.02', live: '10000', agrees: false },
      ]);
    }
    const { user } = process.threadCpuUsage(cpuBefore);
    expect(user / 1_000_000).toBeLessThan(3);
  });

  test('are read in the order of the document, by path and by template', () => {
    const kit = createKit();
    const [challenged] = kit.challenged(resources);
    if (challenged === undefined) throw new Error('the seller sends no challenge');
    const withTemplate = {
      ...challenged,
      resource: { ...challenged.resource, template: '/{city}' },
    };
    const entries = [
      { url: '/{city}', price: '0.01' },
      { url: '/weather', price: '0.03' },
      { url: '/weather', method: 'POST', price: '0.04' },
      { url: '/{city}', price: '0.05' },
    ];
    const reading = kit.manifest({
      ...perfectSeller(),
      manifest: manifestAnswer({ resources: entries }),
    });
    if (reading.state !== 'found') throw new Error('no manifest was found');
    const { prices } = kit.manifestTerms(reading.facts, ORIGIN, withTemplate);
    expect(prices.map(({ pointer }) => pointer)).toEqual([
      '/resources/0',
      '/resources/1',
      '/resources/3',
    ]);
  });
});

function manifestAnswer(changes: Parameters<typeof manifestDocument>[0]) {
  const { manifest } = perfectSeller();
  if (!manifest.ok) throw new Error('the seller has no manifest');
  const body = JSON.stringify(manifestDocument({ endpoints: undefined, ...changes }));
  return { ...manifest, data: { ...manifest.data, body } };
}
