/** A recording fit for a bug report: the headers that judgement reads, short bodies, no secrets. */
import type { HttpData } from '../model/observation.ts';
import type { Observations } from '../model/observations.ts';

export type Trim = {
  /** Longer bodies that are no JSON are cut there. */
  readonly maxTextChars: number;
  /** True to leave out headers that nothing here reads. */
  readonly headers: boolean;
};

export type Trimmed = {
  readonly observations: Observations;
  /** Number of values that looked like secrets and were replaced. */
  readonly secrets: number;
};

/** Headers that a check, a reader or the prober looks at; all others are the seller's business. */
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

const REPLACED = '[removed]';
/** A name that says that its value is one, and values that show by their form what they are. */
const SECRETS: readonly RegExp[] = [
  /(?<=["']?(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret|password|private[_-]?key)["']?\s*[:=]\s*["'])[^"'\s]{4,}(?=["'])/gi,
  /\bBearer\s+[\w.~+/-]{8,}=*/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:sk|pk|rk)_(?:live|test)_\w{8,}/g,
  /\bgh[pousr]_\w{20,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];

export function trimObservations(observations: Observations, trim: Trim): Trimmed {
  let secrets = 0;
  const clean = (text: string) =>
    SECRETS.reduce(
      (rest, pattern) =>
        rest.replaceAll(pattern, () => {
          secrets += 1;
          return REPLACED;
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
  // The walk keeps every member and its type: texts become shorter texts, lists of headers shorter lists.
  return { observations: walk(observations) as Observations, secrets };
}

function isHttpData(value: object): value is HttpData {
  return 'headers' in value && 'body' in value && 'firstByteMs' in value;
}

function trimAnswer(data: HttpData, { maxTextChars, headers }: Trim): HttpData {
  const isLong = data.body.length > maxTextChars && !isJson(data.body);
  return {
    ...data,
    headers: headers ? data.headers.filter(([name]) => READ_HEADERS.has(name)) : data.headers,
    body: isLong ? data.body.slice(0, maxTextChars) : data.body,
  };
}

/** Cut JSON is none: a document of objects stays whole. */
function isJson(body: string): boolean {
  return /^\s*[[{]/.test(body);
}
