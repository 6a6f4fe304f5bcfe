/** Tells a build that is broken from a document that breaks a check. */
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { type CheckVerdict, runChecks } from '../engine/run-checks.ts';
import type { HttpObservation, Observations } from '../model/observations.ts';
import { PLAN_FAILURES, readPlan } from './readers.ts';
import { BrokenChecks, EMPTY_OBSERVATIONS } from './scanner.ts';

export type ScanEngine = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
};

/** Judges a good origin if a check or the plan broke on these observations. Throws BrokenChecks if one breaks again. */
export async function throwIfBroken(
  verdicts: readonly CheckVerdict[],
  { resources }: Observations,
  { catalog, checks, pool }: ScanEngine,
): Promise<void> {
  const hasFault = findFaults(verdicts).length > 0;
  if (!hasFault && resources.planFailure !== PLAN_FAILURES.fault) return;
  const work = { pool, account: pool.openScan('replay') };
  const [goodVerdicts, { planFailure }] = await Promise.all([
    runChecks({ ...work, catalog, checks, observations: GOOD_ORIGIN }),
    readPlan(GOOD_ORIGIN, true, work),
  ]);
  // A limit is not a proof, because a busy machine may cause it.
  const broken = [
    ...findFaults(goodVerdicts),
    ...(planFailure === PLAN_FAILURES.fault ? ['the plan'] : []),
  ];
  if (broken.length > 0) throw new BrokenChecks(broken);
}

function findFaults(verdicts: readonly CheckVerdict[]): readonly string[] {
  const faults = verdicts.filter(({ verdict }) => verdict.outcome === 'fault');
  return faults.map(({ entry }) => entry.id);
}

const GOOD_URL = 'https://good.invalid';
const OFFER = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '10000',
  maxTimeoutSeconds: 300,
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  extra: { name: 'USD Coin', version: '2' },
};
const CHALLENGE = { x402Version: 2, resource: { url: `${GOOD_URL}/weather` }, accepts: [OFFER] };
const CHALLENGED = toAnswer('/weather', 402, 'application/json', '{}', [
  ['payment-required', Buffer.from(JSON.stringify(CHALLENGE)).toString('base64')],
]);
const OPERATION = {
  'x-payment-info': {
    price: { mode: 'fixed', currency: 'USD', amount: '0.01' },
    protocols: [{ x402: {} }],
  },
  responses: { 402: { description: 'Payment required' } },
};
const OPENAPI = {
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1.0.0' },
  paths: { '/weather': { get: OPERATION } },
};

/** An origin that sells one resource by the rules, as a scan sees it. */
export const GOOD_ORIGIN: Observations = {
  ...EMPTY_OBSERVATIONS,
  origin: {
    ...EMPTY_OBSERVATIONS.origin,
    url: GOOD_URL,
    hostname: 'good.invalid',
    host: 'good.invalid',
  },
  root: toAnswer('/', 200, 'text/html', '<!doctype html><title>Weather</title>'),
  soft404: toAnswer('/no-such-page', 404, 'text/plain', 'Not found'),
  openapi: toAnswer('/openapi.json', 200, 'application/json', JSON.stringify(OPENAPI)),
  llmsTxt: toAnswer('/llms.txt', 200, 'text/plain', '# Weather\n\n> By city.\n'),
  robots: toAnswer('/robots.txt', 200, 'text/plain', 'User-agent: *\nAllow: /\n'),
  resources: {
    ...EMPTY_OBSERVATIONS.resources,
    declared: 1,
    probed: [
      {
        url: `${GOOD_URL}/weather`,
        path: '/weather',
        template: '/weather',
        method: 'GET',
        sources: ['openapi'],
        declaredPaid: true,
        declaredX402: true,
        probes: [
          { method: 'GET', number: 1, answer: CHALLENGED },
          { method: 'GET', number: 2, answer: CHALLENGED },
        ],
      },
    ],
  },
};

function toAnswer(
  path: string,
  status: number,
  contentType: string,
  body: string,
  otherHeaders: readonly (readonly [string, string])[] = [],
): HttpObservation {
  const headers = [['content-type', contentType] as const, ...otherHeaders];
  const request = { url: GOOD_URL + path, method: 'GET', redirects: [] } as const;
  return {
    ok: true,
    truncated: false,
    ms: 1,
    data: { ...request, status, headers, body, firstByteMs: 1 },
  };
}
