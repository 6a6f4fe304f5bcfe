/** A scan ends with all its results, whatever value a member of a document has. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Catalog, loadCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import {
  type DiscoveredCheck,
  discoverChecks,
} from '../../../src/scanner/engine/catalog/discover-checks.ts';
import type { CheckDefinition } from '../../../src/scanner/engine/define-check.ts';
import { createPool, type Pool } from '../../../src/scanner/engine/judging-pool.ts';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import { createKit } from '../../../src/scanner/parse/kit/kit.ts';
import { makePlan } from '../../../src/scanner/probe/plan/plan.ts';
import { parseRecording, RecordingError } from '../../../src/scanner/probe/read-recording.ts';
import { toRecording } from '../../../src/scanner/probe/recording.ts';
import { describeChallenges, describeOrigin } from '../../../src/scanner/scan/describe-origin.ts';
import { gradeObservations } from '../../../src/scanner/scan/grade-observations.ts';
import { readVerdict } from '../../checks/read-verdict.ts';
import {
  agentCard,
  answer,
  asked,
  bazaarExtension,
  challenge402,
  challengeV1,
  challengeV2,
  manifestDocument,
  ORIGIN,
  offer,
  openApiDocument,
  PAY_TO,
  paidOperation,
  perfectSeller,
  resource,
  resources,
} from '../../fixtures/observations/build-observations.ts';
import { type Mutation, mutations } from '../../fixtures/poison.ts';
import { NEWER_VERSION } from './engine-under-test.ts';

const SELLER = perfectSeller();
const definitions = new Map<string, CheckDefinition>();

/** These documents have every member that the scanner reads. */
const OPENAPI = openApiDocument({
  servers: [{ url: `${ORIGIN}/{base}`, variables: { base: { default: 'v1' } } }],
  externalDocs: { url: `${ORIGIN}/docs` },
  tags: [{ name: 'a', externalDocs: { url: '/tag' } }],
  security: [{ x402: [] }],
  paths: {
    '/weather': {
      parameters: [{ name: 'city', in: 'query', required: true, schema: { type: 'string' } }],
      get: paidOperation(),
    },
    '/users/{id}': {
      get: {
        ...paidOperation({ 'x-payment-info': { price: '0.01', protocols: ['x402'] } }),
        parameters: [{ name: 'id', in: 'path', schema: { type: 'integer', minimum: 1 } }],
      },
      post: paidOperation({ 'x-payment-info': { offers: [{ amount: '1', currency: 'USD' }] } }),
    },
    '/health': { get: { security: [], responses: { 200: { description: 'OK' } } } },
  },
});
const MANIFEST = manifestDocument({
  category: 'data',
  resources: [
    'GET /weather',
    {
      resource: { url: `${ORIGIN}/weather` },
      price: { amount: '0.01', currency: 'USD' },
      networks: ['eip155:8453'],
      accepts: [offer()],
      metadata: { input: { method: 'GET' } },
      payTo: PAY_TO,
    },
  ],
});
const DISCOVERY = { discoveryDocument: { resources: { '/weather': { accepts: [offer()] } } } };
const CHALLENGE = challengeV2({ extensions: { bazaar: bazaarExtension() } });

/** Each source has a valid document, and a function that puts its changed text into observations. */
const SOURCES: Readonly<
  Record<string, readonly [unknown, (text: string) => Partial<Observations>]>
> = {
  'the OpenAPI document': [
    OPENAPI,
    (body) => ({ openapi: asked('/openapi.json', jsonAnswer(body)) }),
  ],
  'the manifest': [
    MANIFEST,
    (body) => ({ manifest: asked('/.well-known/x402', jsonAnswer(body)) }),
  ],
  'a discovery document': [
    DISCOVERY,
    (body) => ({ manifest: asked('/.well-known/x402', jsonAnswer(body)) }),
  ],
  'the agent card': [
    agentCard(),
    (body) => ({ agentCard: asked('/.well-known/agent-card.json', jsonAnswer(body)) }),
  ],
  'the challenge in the header': [
    CHALLENGE,
    (text) =>
      toResources(challenge402({}, { header: Buffer.from(text, 'utf8').toString('base64') })),
  ],
  'the challenge in the body': [
    challengeV1(),
    (text) => toResources({ ...challenge402({}, { header: null }), ...withBody(text) }),
  ],
};

function jsonAnswer(body: string) {
  return answer(200, body, { 'content-type': 'application/json' });
}

function withBody(body: string) {
  const { data, ...rest } = challenge402({}, { header: null });
  return { ...rest, data: { ...data, body } };
}

/** Gives one answer to the GET of one resource and to the POST of another. */
function toResources(paidAnswer: ReturnType<typeof answer>): Partial<Observations> {
  const get = resource({ get: [paidAnswer, paidAnswer] });
  return {
    resources: resources([get, resource({ method: 'POST', post: [paidAnswer, paidAnswer] })]),
  };
}

let checks: readonly DiscoveredCheck[];
let catalog: Catalog;
let pool: Pool;
const faults: Error[] = [];
beforeAll(async () => {
  checks = await discoverChecks();
  catalog = await loadCatalog(NEWER_VERSION, { checks });
  for (const { impl, url } of checks) {
    const module: { readonly default: CheckDefinition } = await import(url);
    definitions.set(impl, module.default);
  }
  pool = createPool({ onError: (error) => faults.push(error) });
});
afterAll(() => pool.close());

/** Names of the tasks that throw on these observations. They run here instead of in a worker. */
function findThrowingTasks(changed: Partial<Observations>): readonly string[] {
  const observations = { ...SELLER, ...changed };
  const kit = createKit();
  const changedNames = Object.keys(changed);
  const tasks: readonly (readonly [string, () => unknown])[] = [
    ['the plan', () => makePlan(observations, kit)],
    ['the origin', () => describeOrigin(observations, kit)],
    ['the challenges', () => describeChallenges(observations, kit)],
    ...checks
      .filter(({ definition }) => definition.needs.some((need) => changedNames.includes(need)))
      .map(({ impl, definition: { outcomes } }) => {
        const run = () => readVerdict(definitions.get(impl)?.evaluate(observations, kit), outcomes);
        return [impl, run] as const;
      }),
  ];
  return tasks.flatMap(([name, run]) => {
    try {
      run();
      return [];
    } catch (error) {
      return [`${name}: ${error instanceof Error ? error.message : typeof error}`];
    }
  });
}

describe('each poison value in each member of', () => {
  test.each(Object.keys(SOURCES))(
    '%s breaks nothing',
    (name) => {
      const [document, toObservations] = SOURCES[name] ?? [];
      if (toObservations === undefined) throw new Error('no such source');
      const failures = new Map<string, string>();
      let count = 0;
      for (const { at, poison, text } of mutations(document)) {
        count += 1;
        for (const failure of findThrowingTasks(toObservations(text)))
          failures.set(failure, `${at} = ${poison}`);
      }
      expect(Object.fromEntries(failures)).toEqual({});
      expect(count).toBeGreaterThan(300);
    },
    120_000,
  );
});

/** Returns each mutation at a multiple of `stride`, so that the test ends in time. The choice is the same each time. */
function sample(document: unknown, stride: number): readonly Mutation[] {
  return [...mutations(document)].filter((_, at) => at % stride === 0);
}

test('a scan of a poisoned document on real workers has 25 results and logs no fault', async () => {
  for (const [document, toObservations] of Object.values(SOURCES)) {
    const sampledMutations = sample(document, 211);
    const reports = await Promise.all(
      sampledMutations.map(({ text }) => {
        const observations = { ...SELLER, ...toObservations(text) };
        return gradeObservations(observations, '2026-08-14T12:00:00Z', { catalog, checks, pool });
      }),
    );
    for (const { report } of reports) {
      expect(report.results).toHaveLength(25);
      expect(report.results.filter(({ outcome }) => outcome === 'fault')).toEqual([]);
    }
  }
  expect(faults).toEqual([]);
}, 240_000);

test('a recording with a poison value is refused or judged', async () => {
  const recording = toRecording({ scannedAt: '2026-08-14T12:00:00Z' }, SELLER);
  let judgedCount = 0;
  for (const { text, at } of sample(recording, 1_597)) {
    let parsed: ReturnType<typeof parseRecording>;
    try {
      parsed = parseRecording(JSON.parse(text), 'a recording');
    } catch (error) {
      expect(error, at).toBeInstanceOf(RecordingError);
      continue;
    }
    judgedCount += 1;
    const { report } = await gradeObservations(parsed.observations, parsed.scannedAt, {
      catalog,
      checks,
      pool,
    });
    expect(report.results).toHaveLength(25);
    expect(report.origin).toBe(new URL(report.origin).origin);
  }
  expect(judgedCount).toBeGreaterThan(0);
}, 240_000);
