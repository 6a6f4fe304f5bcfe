import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Environment, SettingError } from '../../../src/scanner/environment/read-sources.ts';
import { loadConfig } from '../../../src/service/config/config.ts';

const KEY = `0x${'1'.repeat(64)}`;
const SIGNER = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A';
const PAY_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const LOCAL_MODE = {
  PAYMENT_MODE: 'local',
  RPC_URL: 'http://127.0.0.1:8545',
  SETTLEMENT_KEY: KEY,
  PAY_TO,
};

function getRefusal(environment: Environment): string {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof SettingError) return error.message;
    throw error;
  }
  throw new Error('the settings were accepted');
}

test('without settings, each value is the default that the contract names', () => {
  const config = loadConfig({});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 4021,
    baseUrl: 'http://127.0.0.1:4021',
    siteUrl: 'http://127.0.0.1:4021',
    checksVersion: '2026-08-14.2',
    storeUrl: 'sqlite:./data/scanner.db',
    scanTimeoutMs: 75_000,
    isRateLimited: true,
    trustProxy: [],
    metricsAllow: ['127.0.0.0/8', '::1/128'],
    logLevel: 'info',
    isProduction: false,
  });
  expect(config.revision.name).toBe('0.3.0');
  expect(config.originPolicy).toEqual({ allowedPorts: [443], allowHosts: new Set() });
  expect(config.payment).toEqual({
    mode: 'mock',
    payTo: '0x4020000000000000000000000000000000000402',
    network: 'eip155:8453',
    asset: {
      address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      name: 'USD Coin',
      version: '2',
    },
    facilitatorUrl: null,
    cdpKey: null,
    rpcUrl: null,
    settlementKey: null,
    signer: null,
  });
});

test('each setting changes its value', () => {
  const config = loadConfig({
    ...LOCAL_MODE,
    HOST: '::',
    PORT: '8080',
    BASE_URL: 'https://api.scanner.example/',
    SITE_URL: 'https://scanner.example',
    API_REVISION: '0.1.0',
    STORE_URL: 'mongodb://db.example/scanner',
    NETWORK: 'eip155:84532',
    X402SCAN_URL: '',
    BAZAAR_URL: 'https://bazaar.example/v2/',
    SCAN_ALLOW_HOSTS: 'localhost:3000, [::1]:8443',
    SCAN_ALLOWED_PORTS: '443,8443',
    SCAN_TIMEOUT_MS: '1000',
    RATE_LIMIT: 'off',
    TRUST_PROXY: '10.0.0.0/8,::1',
    METRICS_ALLOW: '10.1.0.0/16',
    LOG_LEVEL: 'warn',
  });
  expect(config).toMatchObject({
    host: '::',
    port: 8080,
    baseUrl: 'https://api.scanner.example',
    siteUrl: 'https://scanner.example',
    checksVersion: '2026-07-25.1',
    storeUrl: 'mongodb://db.example/scanner',
    scanTimeoutMs: 1000,
    isRateLimited: false,
    trustProxy: ['10.0.0.0/8', '::1'],
    metricsAllow: ['10.1.0.0/16'],
    logLevel: 'warn',
    sources: { x402scanUrl: null, bazaarUrl: 'https://bazaar.example/v2' },
  });
  expect(config.payment).toMatchObject({
    mode: 'local',
    payTo: PAY_TO,
    signer: SIGNER,
    asset: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC' },
  });
  expect([...config.originPolicy.allowHosts]).toEqual(['localhost:3000', '[::1]:8443']);
  expect(config.originPolicy.allowedPorts).toEqual([443, 8443]);
});

test('an empty setting gives the default', () => {
  expect(loadConfig({ PORT: '', PAY_TO: '', CHECKS_VERSION: '' })).toEqual(loadConfig({}));
});

describe('a bad value is refused in one line that names the setting, the value and the accepted values', () => {
  test.each<[Environment, RegExp]>([
    [{ PORT: 'abc' }, /^PORT="abc" is not accepted: give a port from 1 to 65535/],
    [{ PORT: '65536' }, /^PORT="65536" /],
    [{ PORT: '0' }, /^PORT="0" .* BASE_URL is set/],
    [{ HOST: 'a b' }, /^HOST="a b" /],
    [{ BASE_URL: 'scanner.example' }, /^BASE_URL="scanner.example" .* https:\/\/scanner.example/],
    [{ BASE_URL: 'https://scanner.example/api' }, /^BASE_URL=/],
    [{ SITE_URL: 'ftp://scanner.example' }, /^SITE_URL=/],
    [{ API_REVISION: '0.2.0' }, /^API_REVISION="0.2.0" is not accepted: give 0.1.0, 0.3.0\.$/],
    [{ CHECKS_VERSION: 'newest' }, /^CHECKS_VERSION="newest" .* 2026-08-14.2/],
    [{ STORE_URL: 'redis://x' }, /^STORE_URL="redis:\/\/x" .* sqlite:<path>/],
    [{ PAYMENT_MODE: 'live' }, /^PAYMENT_MODE="live" .* mock, local, facilitator/],
    [{ PAY_TO: '0x123' }, /^PAY_TO="0x123" /],
    [{ PAY_TO: PAY_TO.replace('C5', 'c5') }, /^PAY_TO=/],
    [{ PAY_TO: `0x${'0'.repeat(40)}` }, /^PAY_TO=/],
    [{ PAY_TO: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }, /^PAY_TO=.* not that of the token/],
    [{ NETWORK: 'base' }, /^NETWORK="base" .* eip155:8453/],
    [{ NETWORK: 'eip155:1' }, /^ASSET is not set: on eip155:1 give a token address/],
    [{ NETWORK: 'eip155:1', ASSET: PAY_TO }, /^ASSET_NAME is not set/],
    [{ ASSET: PAY_TO }, /^ASSET_NAME is not set/],
    [{ X402SCAN_URL: 'x402scan' }, /^X402SCAN_URL="x402scan" .* nothing to switch it off/],
    [{ SCAN_ALLOW_HOSTS: '*:80' }, /^SCAN_ALLOW_HOSTS="\*:80" .* exact host:port/],
    [{ SCAN_ALLOW_HOSTS: 'a:0' }, /^SCAN_ALLOW_HOSTS="a:0" .* exact host:port/],
    [{ SCAN_ALLOW_HOSTS: 'localhost' }, /^SCAN_ALLOW_HOSTS="localhost" .* host:port/],
    [{ SCAN_ALLOWED_PORTS: '443,https' }, /^SCAN_ALLOWED_PORTS="443,https" /],
    [{ SCAN_TIMEOUT_MS: '0' }, /^SCAN_TIMEOUT_MS="0" /],
    [{ RATE_LIMIT: 'no' }, /^RATE_LIMIT="no" .* on, off/],
    [{ TRUST_PROXY: '10.0.0.0/99' }, /^TRUST_PROXY="10.0.0.0\/99" /],
    [{ METRICS_ALLOW: 'office' }, /^METRICS_ALLOW="office" /],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL="loud" .* info/],
    [{ NODE_EXTRA_CA_CERTS: '/no/such/file.pem' }, /^NODE_EXTRA_CA_CERTS=.* PEM certificates/],
  ])('%j', (environment, line) => {
    const message = getRefusal(environment);
    expect(message).toMatch(line);
    expect(message).not.toContain('\n');
  });
});

describe('a configuration that would give scans away by mistake is refused', () => {
  test.each<[string, Environment, RegExp]>([
    [
      'a facilitator without PAYMENT_MODE',
      { FACILITATOR_URL: 'https://f.example' },
      /^PAYMENT_MODE is not set: it must be mock, local or facilitator, because FACILITATOR_URL is set/,
    ],
    [
      'a settlement key without PAYMENT_MODE',
      { SETTLEMENT_KEY: KEY },
      /^PAYMENT_MODE is not set: it must be mock, local or facilitator, because SETTLEMENT_KEY is set/,
    ],
    ['no PAY_TO', { ...LOCAL_MODE, PAY_TO: '' }, /^PAY_TO is not set: PAYMENT_MODE=local needs/],
    [
      'local mode without a node',
      { ...LOCAL_MODE, RPC_URL: '' },
      /^RPC_URL is not set: PAYMENT_MODE=local/,
    ],
    [
      'local mode without a key',
      { ...LOCAL_MODE, SETTLEMENT_KEY: '' },
      /^SETTLEMENT_KEY is not set/,
    ],
    [
      'facilitator mode without a facilitator',
      { PAYMENT_MODE: 'facilitator', PAY_TO },
      /^FACILITATOR_URL is not set/,
    ],
    ['a CDP key id without a secret', { CDP_API_KEY_ID: 'id' }, /^CDP_API_KEY_SECRET is not set/],
    [
      'a CDP secret of half the length',
      { CDP_API_KEY_ID: 'id', CDP_API_KEY_SECRET: Buffer.alloc(32).toString('base64') },
      /^CDP_API_KEY_SECRET=\(hidden, 44 characters\) is not accepted: give .* base64 of 64 bytes/,
    ],
    [
      'mock payments in production',
      { NODE_ENV: 'production' },
      /^PAYMENT_MODE="mock" .* ALLOW_MOCK_PAYMENTS=1/,
    ],
    [
      'settlements without a node that proves them, in production',
      {
        NODE_ENV: 'production',
        PAYMENT_MODE: 'facilitator',
        FACILITATOR_URL: 'https://f.example',
        PAY_TO,
      },
      /^RPC_URL is not set: in production .* ALLOW_UNPROVED_SETTLEMENTS=1: .* the answer for nothing\.$/,
    ],
    [
      'no rate limit in production',
      { ...LOCAL_MODE, NODE_ENV: 'production', RATE_LIMIT: 'off' },
      /^RATE_LIMIT="off" /,
    ],
    [
      'a time scale in production',
      { ...LOCAL_MODE, NODE_ENV: 'production', TEST_TIME_SCALE: '0.1' },
      /^TEST_TIME_SCALE="0.1" is not accepted: give nothing in production: it is for tests\.$/,
    ],
    ['a time scale of 0', { TEST_TIME_SCALE: '0' }, /^TEST_TIME_SCALE="0" .* from 0.01 to 1/],
    [
      'allowed local hosts in production',
      { ...LOCAL_MODE, NODE_ENV: 'production', SCAN_ALLOW_HOSTS: 'localhost:3000' },
      /^SCAN_ALLOW_HOSTS="localhost:3000" .* SCAN_ALLOW_HOSTS_IN_PRODUCTION=1/,
    ],
  ])('%s', (_title, environment, line) => {
    expect(getRefusal(environment)).toMatch(line);
  });

  test('is accepted if another setting confirms it', () => {
    const explicitMock = { FACILITATOR_URL: 'https://f.example', PAYMENT_MODE: 'mock' };
    expect(loadConfig(explicitMock).payment.mode).toBe('mock');
    const production = { NODE_ENV: 'production', ALLOW_MOCK_PAYMENTS: '1' };
    expect(loadConfig(production).isProduction).toBe(true);
    const unprovedSettlements = {
      NODE_ENV: 'production',
      PAYMENT_MODE: 'facilitator',
      FACILITATOR_URL: 'https://f.example',
      PAY_TO,
      ALLOW_UNPROVED_SETTLEMENTS: '1',
      BASE_URL: 'https://scanner.example',
    };
    expect(loadConfig(unprovedSettlements).payment.rpcUrl).toBeNull();
    const localHosts = {
      ...production,
      SCAN_ALLOW_HOSTS: 'localhost:3000',
      SCAN_ALLOW_HOSTS_IN_PRODUCTION: '1',
    };
    expect(loadConfig(localHosts).originPolicy.allowHosts.size).toBe(1);
  });
});

describe('in production, a service that takes money', () => {
  const money = { ...LOCAL_MODE, NODE_ENV: 'production' };

  test.each([
    undefined,
    'http://scanner.example',
    'http://localhost:8080',
    'https://localhost',
    'https://127.0.0.1',
    'https://10.1.2.3:8443',
    'https://[fd00::1]',
    'https://0x7f.1',
    'https://scanner',
    'https://scanner.internal',
  ])('refuses the BASE_URL %s', (url) => {
    const settings = url === undefined ? money : { ...money, BASE_URL: url };
    expect(getRefusal(settings)).toMatch(/^BASE_URL.* the public https address [^\n]*$/);
    expect(loadConfig({ ...settings, SCAN_ALLOW_HOSTS_IN_PRODUCTION: '1' })).toMatchObject({
      takesMoneyWithoutPublicHttps: true,
    });
    const { NODE_ENV, ...development } = settings;
    expect(loadConfig(development).takesMoneyWithoutPublicHttps).toBe(true);
    expect(loadConfig({ BASE_URL: url }).takesMoneyWithoutPublicHttps).toBe(false);
  });

  test.each([
    'https://scanner.example',
    'https://scan.shop.com',
    'https://scan.shop.com:8443',
    'https://93.184.216.34',
  ])('takes the BASE_URL %s', (url) => {
    expect(loadConfig({ ...money, BASE_URL: url }).takesMoneyWithoutPublicHttps).toBe(false);
  });
});

test('a refusal shows no secret', () => {
  const secret = 'not-a-key-but-secret';
  expect(getRefusal({ PAYMENT_MODE: 'mock', SETTLEMENT_KEY: secret })).not.toContain(secret);
  expect(getRefusal({ STORE_URL: `redis://user:${secret}@db.example` })).not.toContain(secret);
  expect(getRefusal({ RPC_URL: `ftp://user:${secret}@node.example` })).not.toContain(secret);
  expect(getRefusal({ RPC_URL: `wss://node.example/v2/${secret}` })).not.toContain(secret);
  expect(getRefusal({ RPC_URL: `wss://node.example/?key=${secret}` })).not.toContain(secret);
});

test('NODE_EXTRA_CA_CERTS takes a file of PEM certificates and refuses any other file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  try {
    const file = join(folder, 'ca.pem');
    writeFileSync(file, '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n');
    expect(loadConfig({ NODE_EXTRA_CA_CERTS: file }).port).toBe(4021);
    writeFileSync(file, 'no certificate');
    expect(getRefusal({ NODE_EXTRA_CA_CERTS: file })).toContain('NODE_EXTRA_CA_CERTS');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('SIGNING_KEY takes an Ed25519 key as PKCS#8 PEM, also on one line, and a refusal hides it', () => {
  const toPem = (key: KeyObject, type: 'pkcs8' | 'sec1' = 'pkcs8') =>
    key.export({ type, format: 'pem' }).toString();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const acceptedPem = toPem(privateKey);
  for (const SIGNING_KEY of [
    acceptedPem,
    acceptedPem.trim(),
    acceptedPem.replaceAll('\n', '\\n'),
  ]) {
    expect(loadConfig({ SIGNING_KEY }).signingKey?.equals(privateKey)).toBe(true);
  }
  expect(loadConfig({ SIGNING_KEY: '' }).signingKey).toBeNull();
  const p256Key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  for (const SIGNING_KEY of [
    'secret',
    acceptedPem.slice(0, -40),
    publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    toPem(p256Key),
    toPem(p256Key, 'sec1'),
    toPem(generateKeyPairSync('x25519').privateKey),
    JSON.stringify(privateKey.export({ format: 'jwk' })),
  ]) {
    const refusal = getRefusal({ SIGNING_KEY });
    expect(refusal).toMatch(
      /^SIGNING_KEY=\(hidden, \d+ characters\) is not accepted: give an Ed25519 private key as PKCS#8 PEM.*\.$/,
    );
    expect(refusal).not.toContain('\n');
  }
});
