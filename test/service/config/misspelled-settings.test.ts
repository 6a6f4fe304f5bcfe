import { describe, expect, test } from 'vitest';
import { findMisspelledSettings } from '../../../src/service/config/environment.ts';

describe('a variable whose name is one letter away from a setting', () => {
  test.each([
    ['PORTT', 'PORT'],
    ['PRT', 'PORT'],
    ['PROT', 'PORT'],
    ['POTR', 'PORT'],
    ['P0RT', 'PORT'],
    ['_PORT', 'PORT'],
    ['port', 'PORT'],
    ['PAYTO', 'PAY_TO'],
    ['STORE_URI', 'STORE_URL'],
    ['SETTLEMENT_KEYS', 'SETTLEMENT_KEY'],
    ['TRUST-PROXY', 'TRUST_PROXY'],
  ])('%s is reported with the suggestion %s', (name, setting) => {
    const lines = findMisspelledSettings({ [name]: 'a secret', HOST: '::1' });
    expect(lines).toEqual([
      `${name} in the environment is not a setting and is ignored: did you mean ${setting}?`,
    ]);
  });
});

test.each([
  'PORT',
  'SITE_URL',
  'NODE_ENV',
  'HOME',
  'PATH',
  'PWD',
  'PORTAL',
  'PT',
  'OPRTT',
  'SHELL',
  'npm_config_loglevel',
  'X402SCAN_URL',
])('%s is a setting or belongs to another program, and is not reported', (name) => {
  expect(findMisspelledSettings({ [name]: 'x' })).toEqual([]);
});
