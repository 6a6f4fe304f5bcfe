/** Reads and validates all settings when the service starts, so that a bad value does not fail a later request. */

import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import {
  type Environment,
  readSources,
  SettingError,
} from '../../scanner/environment/read-sources.ts';
import {
  DEFAULT_POLICY,
  type OriginPolicy,
  parseAllowHosts,
  parseOrigin,
  toExceptionKey,
} from '../../scanner/guard/origin.ts';
import { readCensusConfig } from './census.ts';
import {
  readSettings,
  readWebAddress,
  type Settings,
  splitList,
  toSettingError,
} from './environment.ts';
import { parseEd25519Key, readPaymentConfig } from './payment.ts';
import { REVISIONS, type Revision } from './revision.ts';

export type Config = Readonly<ReturnType<typeof loadConfig>>;

const HTTPS_PORT = 443;
const LOOPBACK_BLOCKS = ['127.0.0.0/8', '::1/128'];

/** Throws SettingError, whose message is one line with the setting, its value and the accepted values. */
export function loadConfig(environment: Environment) {
  const settings = readSettings(environment);
  const isProduction = settings.NODE_ENV === 'production';
  if (isProduction) refuseUnsafeInProduction(settings);
  if (settings.NODE_EXTRA_CA_CERTS !== undefined) requireCertificates(settings.NODE_EXTRA_CA_CERTS);

  const baseUrl = readWebAddress(settings, 'BASE_URL') ?? toListeningAddress(settings);
  const revision: Revision = REVISIONS[settings.API_REVISION];
  const siteUrl = readWebAddress(settings, 'SITE_URL') ?? baseUrl;
  const sources = readSources(environment);
  const payment = readPaymentConfig(settings, environment, sources);
  const takesMoneyWithoutPublicHttps = payment.mode !== 'mock' && !isPublicHttpsUrl(baseUrl);
  if (
    isProduction &&
    takesMoneyWithoutPublicHttps &&
    settings.SCAN_ALLOW_HOSTS_IN_PRODUCTION !== '1'
  ) {
    throw new SettingError('BASE_URL', settings.BASE_URL, PUBLIC_URL_FOR_MONEY);
  }
  const originPolicy = toOriginPolicy(settings);
  return {
    host: settings.HOST,
    port: settings.PORT,
    // `baseUrl` and `siteUrl` have no trailing slash.
    baseUrl,
    siteUrl,
    revision,
    checksVersion: settings.CHECKS_VERSION ?? revision.defaultChecksVersion,
    storeUrl: settings.STORE_URL,
    payment,
    // True if payers are sent to a URL that they cannot reach, or that anybody on the way can read.
    takesMoneyWithoutPublicHttps,
    sources,
    census: readCensusConfig(settings, siteUrl, sources, originPolicy),
    originPolicy,
    scanTimeoutMs: settings.SCAN_TIMEOUT_MS,
    isRateLimited: settings.RATE_LIMIT === 'on',
    trustProxy: readAddressBlocks(settings, 'TRUST_PROXY') ?? [],
    metricsAllow: readAddressBlocks(settings, 'METRICS_ALLOW') ?? LOOPBACK_BLOCKS,
    // Factor for the times after which an instance takes over the work of another one; 1 except in tests.
    timeScale: settings.TEST_TIME_SCALE,
    // The key that signs reports; null if the store keeps it.
    signingKey: readSigningKey(settings),
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
  const maySettle = settings.RPC_URL !== undefined || settings.ALLOW_UNPROVED_SETTLEMENTS === '1';
  if (settings.PAYMENT_MODE === 'facilitator' && !maySettle) {
    throw new SettingError(
      'RPC_URL',
      undefined,
      "in production a node must prove whether we were paid if the facilitator's reply to a settlement was lost. Without a node, set ALLOW_UNPROVED_SETTLEMENTS=1: then a payer who cancels the payment in time gets the answer for nothing",
    );
  }
  if (settings.RATE_LIMIT === 'off')
    throw new SettingError('RATE_LIMIT', 'off', 'on in production');
  if (settings.TEST_TIME_SCALE !== 1) {
    const value = String(settings.TEST_TIME_SCALE);
    throw new SettingError('TEST_TIME_SCALE', value, 'nothing in production: it is for tests');
  }
  const allowedHosts = settings.SCAN_ALLOW_HOSTS;
  if (allowedHosts !== undefined && settings.SCAN_ALLOW_HOSTS_IN_PRODUCTION !== '1') {
    throw new SettingError(
      'SCAN_ALLOW_HOSTS',
      allowedHosts,
      'nothing in production, or set SCAN_ALLOW_HOSTS_IN_PRODUCTION=1 as well to open these hosts to everybody',
    );
  }
}

const PUBLIC_URL_FOR_MONEY =
  'the public https address at which payers reach the service, such as https://scanner.example, because it takes money (or set SCAN_ALLOW_HOSTS_IN_PRODUCTION=1 as well)';

/** True for https and a host that a scan might request, on any port. */
function isPublicHttpsUrl(text: string): boolean {
  const url = new URL(text);
  // Examples use names under `.example`, which no machine has. They count as public.
  const allowHosts = url.hostname.endsWith('.example') ? [toExceptionKey(url)] : [];
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  try {
    parseOrigin(text, { allowedPorts: [port], allowHosts: new Set(allowHosts) });
    return url.protocol === 'https:';
  } catch {
    // A scan would refuse this host.
    return false;
  }
}

function toOriginPolicy(settings: Settings): OriginPolicy {
  const { SCAN_ALLOW_HOSTS: hosts = '', SCAN_ALLOWED_PORTS: ports } = settings;
  return {
    allowHosts: readAllowedHosts(hosts),
    allowedPorts: ports === undefined ? DEFAULT_POLICY.allowedPorts : parsePorts(ports),
  };
}

function parsePorts(list: string): number[] {
  const ports = splitList(list).map((entry) => (/^\d{1,5}$/.test(entry) ? Number(entry) : 0));
  if (ports.length === 0 || ports.some((port) => port < 1 || port > 65_535)) {
    throw toSettingError('SCAN_ALLOWED_PORTS', list);
  }
  return ports;
}

function readAllowedHosts(list: string): ReadonlySet<string> {
  try {
    return parseAllowHosts(list);
  } catch {
    throw toSettingError('SCAN_ALLOW_HOSTS', list);
  }
}

/** Returns addresses and CIDR blocks; null if the setting is not set. Throws SettingError. */
function readAddressBlocks(
  settings: Settings,
  name: 'TRUST_PROXY' | 'METRICS_ALLOW',
): string[] | null {
  const list = settings[name];
  if (list === undefined) return null;
  const blocks = splitList(list);
  if (!blocks.every((block) => ipaddr.isValid(block) || ipaddr.isValidCIDR(block))) {
    throw toSettingError(name, list);
  }
  return blocks;
}

function readSigningKey({ SIGNING_KEY: text }: Settings): KeyObject | null {
  if (text === undefined) return null;
  const key = parseEd25519Key(text);
  if (key === null) throw toSettingError('SIGNING_KEY', text);
  return key;
}

function toListeningAddress({ HOST, PORT }: Settings): string {
  if (PORT === 0) throw toSettingError('PORT', '0');
  // A client cannot connect to the wildcard address.
  if (HOST === '0.0.0.0') return `http://127.0.0.1:${PORT}`;
  if (HOST === '::') return `http://[::1]:${PORT}`;
  const host = isIPv6(HOST) ? `[${HOST}]` : HOST;
  const url = URL.parse(`http://${host}:${PORT}`);
  if (url === null) throw toSettingError('HOST', HOST);
  return url.origin;
}

/** Throws SettingError for a file without certificates. Node would only print a warning, and ignore the file. */
function requireCertificates(path: string): void {
  try {
    if (readFileSync(path, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return;
  } catch {
    // The error below is for a file that cannot be read and for a file without certificates.
  }
  throw toSettingError('NODE_EXTRA_CA_CERTS', path);
}
