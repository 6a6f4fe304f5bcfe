/** Both stores: payment identifiers. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ContractSubject } from './subject.ts';

const SCOPE = { network: 'eip155:8453', payer: '0xpayer', id: 'order-0000000000001' };

export function identifiersChain(subject: ContractSubject): void {
  describe('payment identifiers', () => {
    test('bind an id to the first key, and to the next one in turn', async () => {
      const { identifiers } = await subject.fresh();
      expect(await identifiers.findLinks(SCOPE, 10)).toEqual([]);
      expect(await identifiers.append(SCOPE, link(1, 'key-1'))).toBe('won');
      expect(await identifiers.append(SCOPE, link(1, 'key-2'))).toBe('lost');
      expect(await identifiers.append(SCOPE, link(2, 'key-2'))).toBe('won');
      expect((await identifiers.findLinks(SCOPE, 10)).map(({ n, key }) => [n, key])).toEqual([
        [1, 'key-1'],
        [2, 'key-2'],
      ]);
      expect((await identifiers.findLinks(SCOPE, 1)).map(({ n }) => n)).toEqual([2]);
    });

    test('keep ids of other payers and networks apart', async () => {
      const { identifiers } = await subject.fresh();
      await identifiers.append(SCOPE, link(1, 'key-1'));
      expect(await identifiers.findLinks({ ...SCOPE, payer: '0xother' }, 10)).toEqual([]);
      expect(await identifiers.findLinks({ ...SCOPE, network: 'eip155:84532' }, 10)).toEqual([]);
      expect(await identifiers.append({ ...SCOPE, payer: '0xother' }, link(1, 'k'))).toBe('won');
    });

    test('tell a writer whose reply was lost that it had won', async () => {
      const { identifiers } = await subject.fresh();
      const first = link(1, 'key-1');
      expect(await identifiers.append(SCOPE, first)).toBe('won');
      expect(await identifiers.append(SCOPE, first)).toBe('won');
    });

    test('accept no link whose predecessor is missing', async () => {
      const { identifiers } = await subject.fresh();
      expect(await identifiers.append(SCOPE, link(2, 'key-2'))).toBe('lost');
      expect(await identifiers.findLinks(SCOPE, 10)).toEqual([]);
    });

    test('let exactly one of many racers bind an id', async () => {
      const { identifiers } = await subject.fresh();
      const racers = Array.from({ length: 20 }, (_, index) =>
        identifiers.append(SCOPE, link(1, `key-${index}`)),
      );
      const outcomes = await Promise.all(racers);
      expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(1);
    });
  });
}

function link(n: number, key: string) {
  return { n, key, request: 'POST /v1/scan api.example.com', attempt: randomUUID() };
}
