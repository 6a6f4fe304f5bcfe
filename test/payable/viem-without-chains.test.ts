/** The part of viem that trials load is viem's own. */

import * as whole from 'viem';
import { expect, test } from 'vitest';
import * as lean from '../../src/payable/viem-without-chains.ts';

const LEFT_OUT = ['createPublicClient', 'http', 'parseSignature', 'recoverTransactionAddress'];

test('each function is the one of viem', () => {
  const both = Object.entries(lean).filter(([name]) => name in whole && !LEFT_OUT.includes(name));
  expect(both.length).toBeGreaterThan(100);
  const others = both.filter(([name, value]) => Reflect.get(whole, name) !== value);
  expect(others.map(([name]) => name)).toEqual([]);
});

test.each(LEFT_OUT)('%s, which talks to chains, throws', (name) => {
  expect(Reflect.get(whole, name)).toBeTypeOf('function');
  expect(Reflect.get(lean, name)).toThrow(`No network here: viem's ${name} is left out.`);
});
