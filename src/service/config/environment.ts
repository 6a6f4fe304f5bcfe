import type { ErrorObject } from 'ajv';
import { envSchema } from 'env-schema';
import { type Static, Type } from 'typebox';
import {
  DEFAULT_NETWORK,
  type Environment,
  INDEX_URLS,
  NETWORK_PATTERN,
  SettingError,
  SOURCE_FORMS,
} from '../../scanner/environment/read-sources.ts';
import { DEFAULT_REVISION } from './revision.ts';

export const DEFAULT_STORE_URL = 'sqlite:./data/scanner.db';

// Each description names the accepted values, and completes "… is not accepted: give …".
const optionalText = (description: string) => Type.Optional(Type.String({ description }));
const optionalFlag = () =>
  Type.Optional(
    Type.Unsafe<'0' | '1'>({ type: 'string', enum: ['0', '1'], description: '1 or 0' }),
  );

function oneOf<T extends string>(values: readonly T[], fallback: T) {
  const description = values.join(', ');
  return Type.Unsafe<T>({ type: 'string', enum: [...values], default: fallback, description });
}

const SITE_ADDRESS = 'an http or https address without a path, such as https://scanner.example';
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const PAYMENT_MODES = ['mock', 'local', 'facilitator'] as const;

const SCHEMA = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', description: 'a host name or address to listen on' }),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 4021,
    description: 'a port from 1 to 65535, or 0 for any free one if BASE_URL is set',
  }),
  BASE_URL: optionalText(SITE_ADDRESS),
  SITE_URL: optionalText(SITE_ADDRESS),
  API_REVISION: oneOf(['0.1.0', '0.3.0'], DEFAULT_REVISION),
  CHECKS_VERSION: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}\\.\\d{1,4}$',
      description: 'the version of a published catalog, such as 2026-08-14.2',
    }),
  ),
  STORE_URL: Type.String({
    default: DEFAULT_STORE_URL,
    pattern: '^(sqlite:.|mongodb(\\+srv)?://.)',
    description: 'sqlite:<path>, or mongodb://<servers>/<database>',
  }),
  PAYMENT_MODE: oneOf(PAYMENT_MODES, 'mock'),
  PAY_TO: optionalText(
    'an address of 0x and 40 hexadecimal digits (checksummed, if it has mixed case)',
  ),
  NETWORK: Type.String({
    default: DEFAULT_NETWORK,
    pattern: NETWORK_PATTERN,
    description: SOURCE_FORMS.NETWORK,
  }),
  ASSET: optionalText(SOURCE_FORMS.ASSET),
  ASSET_NAME: optionalText(SOURCE_FORMS.ASSET_NAME),
  ASSET_VERSION: optionalText(SOURCE_FORMS.ASSET_VERSION),
  FACILITATOR_URL: optionalText('the http or https address of an x402 facilitator'),
  CDP_API_KEY_ID: optionalText('the id of a CDP API key, together with CDP_API_KEY_SECRET'),
  CDP_API_KEY_SECRET: optionalText('the secret of a CDP API key, together with CDP_API_KEY_ID'),
  RPC_URL: optionalText(SOURCE_FORMS.RPC_URL),
  SOLANA_RPC_URL: optionalText(SOURCE_FORMS.SOLANA_RPC_URL),
  SETTLEMENT_KEY: optionalText('a private key of 0x and 64 hexadecimal digits'),
  X402SCAN_URL: optionalText(SOURCE_FORMS.X402SCAN_URL),
  BAZAAR_URL: optionalText(SOURCE_FORMS.BAZAAR_URL),
  ECOSYSTEM_URL: optionalText(SOURCE_FORMS.ECOSYSTEM_URL),
  SCAN_ALLOW_HOSTS: optionalText('a list of exact host:port, such as localhost:3000,[::1]:8443'),
  SCAN_ALLOW_HOSTS_IN_PRODUCTION: optionalFlag(),
  SCAN_ALLOWED_PORTS: optionalText('a list of ports from 1 to 65535, such as 443,8443'),
  NODE_EXTRA_CA_CERTS: optionalText('a readable file of PEM certificates'),
  SCAN_TIMEOUT_MS: Type.Integer({
    minimum: 1,
    maximum: 600_000,
    default: 75_000,
    description: 'milliseconds from 1 to 600000',
  }),
  RATE_LIMIT: oneOf(['on', 'off'], 'on'),
  TRUST_PROXY: optionalText('a list of addresses or CIDR blocks, such as 10.0.0.0/8'),
  METRICS_ALLOW: optionalText('a list of addresses or CIDR blocks, such as 10.0.0.0/8'),
  SIGNING_KEY: optionalText(
    'an Ed25519 private key as PKCS#8 PEM, as openssl genpkey -algorithm ed25519 writes it',
  ),
  CENSUS: optionalText('a list of indexes, such as bazaar,x402scan'),
  CENSUS_FILE: optionalText(
    'a readable file with an origin, or the URL of a paid GET, in each line',
  ),
  CENSUS_EXCLUDE: optionalText(
    'a readable file with a host, or a registrable domain, in each line',
  ),
  CENSUS_MAX: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 10_000,
    description: 'a number of origins from 1 to 100000',
  }),
  CENSUS_POST: oneOf(['declared', 'listed'], 'declared'),
  CONTACT_EMAIL: optionalText('an e-mail address, such as census@scanner.example'),
  LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
  ALLOW_MOCK_PAYMENTS: optionalFlag(),
  ALLOW_UNPROVED_SETTLEMENTS: optionalFlag(),
  TEST_TIME_SCALE: Type.Number({
    minimum: 0.01,
    maximum: 1,
    default: 1,
    description: 'a number from 0.01 to 1, only in tests',
  }),
  NODE_ENV: optionalText('the name of an environment, such as production'),
});

export type Settings = Static<typeof SCHEMA>;
export type SettingName = keyof Settings & string;

const SETTING_NAMES: readonly string[] = Object.keys(SCHEMA.properties);

/** Throws SettingError for the first bad value. An empty value counts as not set, but it switches off an index. */
export function readSettings(environment: Environment): Settings {
  const data = Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => value !== undefined && (value !== '' || name in INDEX_URLS),
    ),
  );
  try {
    return envSchema<Settings>({ schema: SCHEMA, data, env: false });
  } catch (error) {
    const name = findBadSetting(error);
    throw name === null ? error : toSettingError(name, data[name]);
  }
}

/** Finds the first refused setting. The library's message is one sentence about all refused settings. */
function findBadSetting(error: unknown): SettingName | null {
  if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) return null;
  const [first]: readonly Partial<ErrorObject>[] = error.errors;
  const name = first?.instancePath?.slice(1);
  return isSettingName(name) ? name : null;
}

function isSettingName(name: string | undefined): name is SettingName {
  return name !== undefined && name in SCHEMA.properties;
}

export function describeAccepted(setting: SettingName): string {
  const { [setting]: schema } = SCHEMA.properties;
  return 'description' in schema ? String(schema.description) : '';
}

export function toSettingError(name: SettingName, value: string | undefined): SettingError {
  return new SettingError(name, value, describeAccepted(name));
}

/** Returns the URL without a trailing slash; null if the setting is not set. Throws SettingError. */
export function readWebAddress(
  settings: Settings,
  name: 'BASE_URL' | 'SITE_URL' | 'FACILITATOR_URL',
  path: 'no path' | 'any path' = 'no path',
): string | null {
  const value = settings[name];
  if (value === undefined) return null;
  const refusal = toSettingError(name, value);
  const url = URL.parse(value);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw refusal;
  if (path === 'any path') return value.replace(/\/+$/, '');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw refusal;
  }
  return url.origin;
}

/** Returns the entries of a list with commas, without blanks and empty entries. */
export function splitList(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Writes a warning for each name that is a setting but for one letter. It has no values, which may be secret. */
export function findMisspelledSettings(environment: Environment): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (SETTING_NAMES.includes(name)) return [];
    const setting = SETTING_NAMES.find((candidate) => isMisspelled(name, candidate));
    if (setting === undefined) return [];
    return [`${name} in the environment is not a setting and is ignored: did you mean ${setting}?`];
  });
}

/** True if one letter is added, missing, changed or swapped with the next letter, or if only the case differs. */
function isMisspelled(anyCaseName: string, setting: string): boolean {
  const name = anyCaseName.toUpperCase();
  const minLength = Math.min(name.length, setting.length);
  let prefix = 0;
  while (prefix < minLength && name[prefix] === setting[prefix]) prefix++;
  let suffix = 0;
  while (suffix < minLength - prefix && name.at(-1 - suffix) === setting.at(-1 - suffix)) suffix++;
  const nameMiddle = name.slice(prefix, name.length - suffix);
  const settingMiddle = setting.slice(prefix, setting.length - suffix);
  if (nameMiddle.length <= 1 && settingMiddle.length <= 1) return true;
  return nameMiddle.length === 2 && settingMiddle === `${nameMiddle[1]}${nameMiddle[0]}`;
}
