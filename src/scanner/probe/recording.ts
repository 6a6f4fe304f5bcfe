/** Observations on disk: any grade can be replayed from them, offline, under any catalog. */

import type { HttpData } from '../model/observation.ts';
import type { Observations, ProbingOptions } from '../model/observations.ts';
import type { BudgetName, NamedPath, ScanReport } from '../model/report.ts';

export const RECORDING_FORMAT = 'x402-scan-observations';
/** Version 2 added payability. Files of version 1 are still read. */
export const RECORDING_SCHEMA_VERSION = 2;
export const OLDEST_SCHEMA_VERSION = 1;

export type Recording = {
  readonly format: typeof RECORDING_FORMAT;
  readonly schemaVersion: typeof OLDEST_SCHEMA_VERSION | typeof RECORDING_SCHEMA_VERSION;
  /** ISO 8601, UTC. */
  readonly scannedAt: string;
  /** Budgets of processor time that the scan used up. A replay does not judge the parts that they limit. */
  readonly exhausted?: readonly BudgetName[];
  /** Absent if the caller names no path. Every format of a replay shows it. */
  readonly named?: NamedPath;
  readonly observations: Observations;
};

export function toRecording(
  report: Pick<ScanReport, 'scannedAt' | 'exhausted'> & Pick<Recording, 'named'>,
  observations: Observations,
): Recording {
  const { scannedAt, exhausted, named } = report;
  return {
    format: RECORDING_FORMAT,
    schemaVersion: RECORDING_SCHEMA_VERSION,
    scannedAt,
    ...(exhausted ? { exhausted } : {}),
    ...(named ? { named } : {}),
    observations,
  };
}

/**
 * Returns the part of a recording that a catalog may see. If the catalog sends no POST, recorded POSTs are
 * removed. If the catalog sends POSTs and the recorded scan did not, `probing.post` is false.
 */
export function limitToCatalog(observations: Observations, probing: ProbingOptions): Observations {
  const post = probing.post && observations.probing.post;
  if (post === observations.probing.post) return observations;
  return {
    ...observations,
    probing: { ...observations.probing, post },
    resources: {
      ...observations.resources,
      probed: observations.resources.probed.map((resource) => ({
        ...resource,
        probes: resource.probes.filter((probe) => probe.method !== 'POST'),
      })),
    },
    payability: removePosts(observations.payability),
    links: {
      ...observations.links,
      checked: observations.links.checked.filter((link) => link.method !== 'POST'),
    },
  };
}

function removePosts(payability: Observations['payability']): Observations['payability'] {
  if (payability === null) return null;
  const isNotPost = ({ method }: { readonly method: string }) => method !== 'POST';
  const resources = payability.resources.filter(isNotPost);
  return { ...payability, resources, silent: payability.silent.filter(isNotPost) };
}

export type TrimOptions = {
  /** Bodies are cut at this length, unless they are JSON. */
  readonly maxTextChars: number;
  /** True to drop the headers that are not in READ_HEADERS. */
  readonly dropsUnreadHeaders: boolean;
};

/** Headers that a check, a parser or the prober reads. */
const READ_HEADERS = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'allow',
  'cache-control',
  'content-length',
  'content-type',
  'link',
  'location',
  'payment-required',
  'payment-response',
  'retry-after',
  'vary',
  'www-authenticate',
  'x-payment-response',
  'x-robots-tag',
]);

const REPLACEMENT = '[removed]';
/** Match values behind a name such as `password`, and values in the form of a known kind of secret. */
const SECRET_PATTERNS: readonly RegExp[] = [
  /(?<=["']?(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret|password|private[_-]?key)["']?\s*[:=]\s*["'])[^"'\s]{4,}(?=["'])/gi,
  /\bBearer\s+[\w.~+/-]{8,}=*/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:sk|pk|rk)_(?:live|test)_\w{8,}/g,
  /\bgh[pousr]_\w{20,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];

/**
 * Makes observations fit for a bug report: only headers that we read, short bodies, no secrets. `secretCount`
 * counts the replaced values.
 */
export function trimObservations(observations: Observations, trim: TrimOptions) {
  let secretCount = 0;
  const clean = (text: string) =>
    SECRET_PATTERNS.reduce(
      (cleaned, pattern) =>
        cleaned.replaceAll(pattern, () => {
          secretCount += 1;
          return REPLACEMENT;
        }),
      text,
    );
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value === 'string') return clean(value);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, inner]) => [name, walk(inner)]);
    const copy: object = Object.fromEntries(members);
    return isHttpData(copy) ? trimAnswer(copy, trim) : copy;
  };
  // `walk` keeps every member and its type, because it only shortens texts and lists of headers.
  return { observations: walk(observations) as Observations, secretCount };
}

function isHttpData(value: object): value is HttpData {
  return 'headers' in value && 'body' in value && 'firstByteMs' in value;
}

function trimAnswer(data: HttpData, { maxTextChars, dropsUnreadHeaders }: TrimOptions): HttpData {
  const isLong = data.body.length > maxTextChars && !isJson(data.body);
  return {
    ...data,
    headers: dropsUnreadHeaders
      ? data.headers.filter(([name]) => READ_HEADERS.has(name))
      : data.headers,
    body: isLong ? data.body.slice(0, maxTextChars) : data.body,
  };
}

/** True for a body that begins like JSON. It stays whole, because cut JSON cannot be parsed. */
function isJson(body: string): boolean {
  return /^\s*[[{]/.test(body);
}
