/** The part of viem that trials load is viem's own, and is all that the clients import. */

import { globSync, readFileSync } from 'node:fs';
import * as whole from 'viem';
import { expect, test } from 'vitest';
import * as lean from '../../src/payable/viem-without-chains.ts';

const CLIENTS = 'node_modules/@x402/{core,evm}/dist/esm/**/*.mjs';
const IMPORT = /import \{([^}]*)\} from "viem"/g;
const LEFT_OUT = [
  'createPublicClient',
  'http',
  'parseSignature',
  'parseTransaction',
  'recoverTransactionAddress',
];

test('each name that the packages of the clients import is there', () => {
  const files = globSync(CLIENTS, { cwd: new URL('../../', import.meta.url).pathname });
  const names = files.flatMap((file) => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    return [...source.matchAll(IMPORT)].flatMap(([, list = '']) => list.split(','));
  });
  const imported = new Set(names.map((name) => name.trim().split(' ')[0] ?? '').filter(Boolean));
  expect(imported.size).toBeGreaterThan(20);
  expect([...imported].filter((name) => !(name in lean))).toEqual([]);
});

test('each function is the one of viem', () => {
  const both = Object.entries(lean).filter(([name]) => !LEFT_OUT.includes(name));
  expect(both.length).toBeGreaterThan(15);
  const others = both.filter(([name, value]) => Reflect.get(whole, name) !== value);
  expect(others.map(([name]) => name)).toEqual([]);
});

test.each(LEFT_OUT)('%s, which talks to chains, throws', (name) => {
  expect(Reflect.get(whole, name)).toBeTypeOf('function');
  expect(Reflect.get(lean, name)).toThrow(`No network here: viem's ${name} is left out.`);
});
