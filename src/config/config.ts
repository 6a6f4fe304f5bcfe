/** The whole configuration, validated: a bad setting stops the start, and none fails later. */

import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { DEFAULT_POLICY, type OriginPolicy, parseAllowHosts } from '../guard/origin.ts';
import { readCensusConfig } from './census.ts';
import {
  acceptedFor,
  type Environment,
  readSettings,
  SettingError,
  type Settings,
} from './environment.ts';
import { addressBlocks, portList, webAddress } from './parse-values.ts';
import { ed25519Key, readPaymentConfig } from './payment.ts';
import { REVISIONS, type Revision } from './revision.ts';

export type Config = Readonly<ReturnType<typeof loadConfig>>;

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** Throws SettingError: one line with the setting, its value and what is accepted. */
export function loadConfig(environment: Environment) {
  const settings = readSettings(environment);
  const isProduction = settings.NODE_ENV === 'production';
  if (isProduction) refuseUnsafeInProduction(settings);
  if (settings.NODE_EXTRA_CA_CERTS !== undefined) readCertificates(settings.NODE_EXTRA_CA_CERTS);

  const baseUrl = webAddress(settings, 'BASE_URL') ?? listeningAddress(settings);
  const revision: Revision = REVISIONS[settings.API_REVISION];
  const siteUrl = webAddress(settings, 'SITE_URL') ?? baseUrl;
  const ecosystem = readEcosystemConfig(settings);
  return {
    host: settings.HOST,
    port: settings.PORT,
    // `baseUrl` and `siteUrl` have no trailing slash.
    baseUrl,
    siteUrl,
    revision,
    checksVersion: settings.CHECKS_VERSION ?? revision.defaultChecksVersion,
    storeUrl: settings.STORE_URL,
    payment: readPaymentConfig(settings, environment),
    ecosystem,
    census: readCensusConfig(settings, siteUrl, ecosystem),
    originPolicy: originPolicy(settings),
    scanTimeoutMs: settings.SCAN_TIMEOUT_MS,
    isRateLimited: settings.RATE_LIMIT === 'on',
    trustProxy: addressBlocks(settings, 'TRUST_PROXY') ?? [],
    metricsAllow: addressBlocks(settings, 'METRICS_ALLOW') ?? LOOPBACK,
    // Scales the times after which instances take over from one another; 1 outside tests.
    timeScale: settings.TEST_TIME_SCALE,
    // Signs reports; null if the store keeps the key.
    signingKey: signingKey(settings),
    logLevel: settings.LOG_LEVEL,
    isProduction,
  };
}

function refuseUnsafeInProduction(settings: Settings): void {
  if (settings.PAYMENT_MODE === 'mock' && settings.ALLOW_MOCK_PAYMENTS !== '1') {
    throw new SettingError(
      'PAYMENT_MODE',
      'mock',
      'local or facilitator in production, or set ALLOW_MOCK_PAYMENTS=1 as well to give work away',
    );
  }
  const isProvable = settings.RPC_URL !== undefined || settings.ALLOW_UNPROVED_SETTLEMENTS === '1';
  if (settings.PAYMENT_MODE === 'facilitator' && !isProvable) {
    throw new SettingError(
      'RPC_URL',
      undefined,
      'in production a node proves what became of a settlement whose answer was lost; or set ALLOW_UNPROVED_SETTLEMENTS=1 as well: then a payer who cancels the payment in time is served for nothing',
    );
  }
  if (settings.RATE_LIMIT === 'off') {
    throw new SettingError('RATE_LIMIT', 'off', 'on in production');
  }
  if (settings.TEST_TIME_SCALE !== 1) {
    const value = String(settings.TEST_TIME_SCALE);
    throw new SettingError('TEST_TIME_SCALE', value, 'nothing in production: it is for tests');
  }
  const exceptions = settings.SCAN_ALLOW_HOSTS;
  if (exceptions !== undefined && settings.SCAN_ALLOW_HOSTS_IN_PRODUCTION !== '1') {
    throw new SettingError(
      'SCAN_ALLOW_HOSTS',
      exceptions,
      'nothing in production, or set SCAN_ALLOW_HOSTS_IN_PRODUCTION=1 as well to open these hosts to everybody',
    );
  }
}

function originPolicy(settings: Settings): OriginPolicy {
  const { SCAN_ALLOW_HOSTS: hosts = '', SCAN_ALLOWED_PORTS: ports } = settings;
  return {
    allowHosts: allowHosts(hosts),
    allowedPorts: ports === undefined ? DEFAULT_POLICY.allowedPorts : portList(ports),
  };
}

function allowHosts(list: string): ReadonlySet<string> {
  try {
    return parseAllowHosts(list);
  } catch {
    throw new SettingError('SCAN_ALLOW_HOSTS', list, acceptedFor('SCAN_ALLOW_HOSTS'));
  }
}

function signingKey({ SIGNING_KEY: text }: Settings): KeyObject | null {
  if (text === undefined) return null;
  const key = ed25519Key(text);
  if (key === null) throw new SettingError('SIGNING_KEY', text, acceptedFor('SIGNING_KEY'));
  return key;
}

function listeningAddress({ HOST, PORT }: Settings): string {
  if (PORT === 0) throw new SettingError('PORT', '0', acceptedFor('PORT'));
  // A client cannot call the wildcard address.
  if (HOST === '0.0.0.0') return `http://127.0.0.1:${PORT}`;
  if (HOST === '::') return `http://[::1]:${PORT}`;
  const host = isIPv6(HOST) ? `[${HOST}]` : HOST;
  if (!URL.canParse(`http://${host}:${PORT}`)) {
    throw new SettingError('HOST', HOST, acceptedFor('HOST'));
  }
  return new URL(`http://${host}:${PORT}`).origin;
}

function readCertificates(path: string): void {
  try {
    if (readFileSync(path, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return;
  } catch {
    // An unreadable file is refused below, like one without certificates.
  }
  throw new SettingError('NODE_EXTRA_CA_CERTS', path, acceptedFor('NODE_EXTRA_CA_CERTS'));
}

const PUBLIC_SOURCES = {
  X402SCAN_URL: 'https://www.x402scan.com',
  BAZAAR_URL: 'https://api.cdp.coinbase.com',
  ECOSYSTEM_URL: 'https://www.x402.org',
} as const;

/**
 * Base URLs of the sources of the standing checks; null if a source is switched off, by an empty setting. Throws
 * SettingError.
 */
export function readEcosystemConfig(settings: Settings) {
  return {
    x402scanUrl: sourceAddress(settings, 'X402SCAN_URL'),
    bazaarUrl: sourceAddress(settings, 'BAZAAR_URL'),
    ecosystemUrl: sourceAddress(settings, 'ECOSYSTEM_URL'),
    // A node of Solana that knows the token accounts of recipients.
    solanaRpcUrl: webAddress(settings, 'SOLANA_RPC_URL', 'any path'),
  };
}

function sourceAddress(settings: Settings, name: keyof typeof PUBLIC_SOURCES): string | null {
  if (settings[name] === '') return null;
  return webAddress(settings, name, 'any path') ?? PUBLIC_SOURCES[name];
}
