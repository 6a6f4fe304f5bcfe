/** Answers of a seller, the way the prober records them: documents, challenges, failures. */
import type { JsonObject, JsonValue } from '../../src/formats/json.ts';
import type { FailureReason, HttpData, Seen } from '../../src/probe/observation.ts';
import type {
  HttpObservation,
  PathAnswer,
  Probe,
  ResourceObservation,
  ResourceSet,
} from '../../src/probe/observations.ts';

export const ORIGIN = 'https://seller.example';
export const USDC_BASE = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const USDC_BASE_SEPOLIA = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
export const PAY_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const OTHER_PAY_TO = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

export type Answer = Seen<HttpData>;
/** A list of values is a repeated header. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;
type More = Partial<HttpData> & { readonly ms?: number; readonly truncated?: boolean };

/** A body that is no string is sent as JSON; headers given here win over the content type. */
export function answer(
  status: number,
  body: JsonValue = '',
  headers: Headers = {},
  more: More = {},
): Answer {
  const { ms = 80, truncated = false, ...data } = more;
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  const all: Headers = body === '' ? headers : { 'content-type': type, ...headers };
  return {
    ok: true,
    ms,
    truncated,
    data: {
      url: `${ORIGIN}/`,
      method: 'GET',
      status,
      headers: Object.entries(all).flatMap(([name, value]) =>
        (typeof value === 'string' ? [value] : value).map((one) => [name, one] as const),
      ),
      body: typeof body === 'string' ? body : JSON.stringify(body),
      firstByteMs: 40,
      redirects: [],
      ...data,
    },
  };
}

export function html(status: number, body: string, headers: Headers = {}, more: More = {}): Answer {
  return answer(status, body, { 'content-type': 'text/html; charset=utf-8', ...headers }, more);
}

export function failure(reason: FailureReason, detail = `seen as ${reason}`): HttpObservation {
  return { ok: false, reason, detail, ms: 80 };
}

/** The answer as the prober stamps it: the URL and the method that were asked for. */
export function asked(
  path: string,
  given: HttpObservation,
  method: HttpData['method'] = 'GET',
): HttpObservation {
  if (!given.ok) return given;
  const url = given.data.url === `${ORIGIN}/` ? `${ORIGIN}${path}` : given.data.url;
  const body = method === 'HEAD' ? '' : given.data.body;
  return { ...given, data: { ...given.data, url, method, body } };
}

export function at(path: string, given: HttpObservation): PathAnswer {
  return { path, answer: asked(path, given) };
}

/** One entry of a v2 `accepts`: a cent in Base USDC. A member set to undefined is left out. */
export function offer(changes: JsonObject = {}): JsonObject {
  return present({
    scheme: 'exact',
    network: 'eip155:8453',
    amount: '10000',
    asset: USDC_BASE,
    payTo: PAY_TO,
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
    ...changes,
  });
}

export function challengeV2(changes: JsonObject = {}): JsonObject {
  return present({
    x402Version: 2,
    error: 'Payment required',
    resource: {
      url: `${ORIGIN}/weather`,
      description: 'Weather of a city, now',
      mimeType: 'application/json',
    },
    accepts: [offer()],
    ...changes,
  });
}

/** One entry of a v1 `accepts`, by the names of version 1. */
export function offerV1(changes: JsonObject = {}): JsonObject {
  return present({
    scheme: 'exact',
    network: 'base',
    maxAmountRequired: '10000',
    resource: `${ORIGIN}/weather`,
    description: 'Weather of a city, now',
    mimeType: 'application/json',
    payTo: PAY_TO,
    maxTimeoutSeconds: 300,
    asset: USDC_BASE,
    extra: { name: 'USD Coin', version: '2' },
    ...changes,
  });
}

export function challengeV1(changes: JsonObject = {}): JsonObject {
  return present({
    x402Version: 1,
    error: 'X-PAYMENT header is required',
    accepts: [offerV1()],
    ...changes,
  });
}

/** The value of a PAYMENT-REQUIRED header: standard base64 of UTF-8 JSON. */
export function encodeChallenge(challenge: JsonValue): string {
  return Buffer.from(JSON.stringify(challenge), 'utf8').toString('base64');
}

export type ChallengeOptions = {
  /** Header value as sent; null leaves the header out. Default: the challenge, encoded. */
  readonly header?: string | null;
  /** Default `{}`, what @x402/express sends. */
  readonly body?: JsonValue;
  readonly status?: number;
  /** Beside content type, `Cache-Control: no-store` and the challenge. */
  readonly headers?: Headers;
};

/** A 402 with a v2 challenge in the header. */
export function challenge402(
  challenge: JsonObject = challengeV2(),
  options: ChallengeOptions = {},
): Answer {
  const header = options.header === undefined ? encodeChallenge(challenge) : options.header;
  return answer(options.status ?? 402, options.body ?? {}, {
    'cache-control': 'no-store',
    ...(header === null ? {} : { 'payment-required': header }),
    ...options.headers,
  });
}

/** A 402 whose challenge stands in the body alone, as v1 sellers send it. */
export function bodyChallenge402(
  challenge: JsonObject = challengeV1(),
  headers: Headers = {},
): Answer {
  return challenge402(challenge, { header: null, body: challenge, headers });
}

type Answers = HttpObservation | readonly HttpObservation[];

export type ResourceOptions = Partial<Omit<ResourceObservation, 'probes'>> & {
  /** What each method answers; a list is the first and the second probe, an empty one none. */
  readonly get?: Answers;
  readonly head?: Answers;
  readonly post?: Answers;
};

/**
 * A paid GET resource at /weather that does all right: 402 to two GETs and to HEAD. With
 * `method: 'POST'` it answers 405 to GET and HEAD, and 402 to two POSTs of `{}`.
 */
export function resource(options: ResourceOptions = {}): ResourceObservation {
  const { get, head, post, ...given } = options;
  const method = given.method === undefined ? 'GET' : given.method;
  const path = given.path ?? (method === 'POST' ? '/summaries' : '/weather');
  const named = { url: `${ORIGIN}${path}`, description: 'Weather of a city, now' };
  const challenge = challenge402(challengeV2({ resource: named }));
  const isPost = method === 'POST';
  const refused = answer(405, { error: 'Method not allowed' });
  return {
    url: `${ORIGIN}${path}`,
    template: path,
    sources: ['openapi'],
    declaredPaid: true,
    ...given,
    path,
    method,
    probes: [
      ...probes(path, 'GET', get ?? (isPost ? refused : [challenge, challenge])),
      ...probes(path, 'HEAD', head ?? (isPost ? refused : challenge)),
      ...probes(path, 'POST', post ?? (isPost ? [challenge, challenge] : [])),
    ],
  };
}

function probes(path: string, method: Probe['method'], answers: Answers): readonly Probe[] {
  const [first, second] = 'ok' in answers ? [answers] : answers;
  const numbered: Probe[] = [];
  if (first !== undefined) numbered.push({ method, number: 1, answer: asked(path, first, method) });
  if (second !== undefined) {
    numbered.push({ method, number: 2, answer: asked(path, second, method) });
  }
  return numbered;
}

/** What the plan found: by default nothing but the resources that were probed. */
export function resources(
  probed: readonly ResourceObservation[],
  changes: Partial<ResourceSet> = {},
): ResourceSet {
  return {
    probed,
    declared: probed.filter((one) => one.declaredPaid).length,
    otherMethods: 0,
    looked: ['/openapi.json: 404', '/.well-known/x402: 404', '/llms.txt: 404'],
    ...changes,
  };
}

function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
