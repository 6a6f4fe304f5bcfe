import { claimPayment } from './claim-payment.ts';
import { DOCUMENTS } from './documents.ts';
import { installLine } from './literals.ts';
import {
  DOCUMENT_TOPICS,
  type DocumentTopic,
  type Patch,
  STACKS,
  type Stack,
  type StackPatches,
  type Topic,
  whyNot,
} from './patch.ts';
import { type PatchValues, toOpenApiPath } from './patch-values.ts';
import { EXPRESS } from './stacks/express.ts';
import { FASTAPI } from './stacks/fastapi.ts';
import { FLASK } from './stacks/flask.ts';
import { GO } from './stacks/go.ts';
import { HONO } from './stacks/hono.ts';
import { NEXT } from './stacks/next.ts';
import { NGINX } from './stacks/nginx.ts';
import { CHECK_TOPICS, listTopics } from './topics.ts';

export type TopicPatch = { readonly topic: Topic; readonly patch: Patch };
export type CheckPatches = {
  /** Names the part of the code that fixes this check. */
  readonly lead: string;
  readonly patches: readonly TopicPatch[];
};

const PATCHES: Readonly<Record<Stack, StackPatches>> = {
  express: EXPRESS,
  hono: HONO,
  next: NEXT,
  fastapi: FASTAPI,
  flask: FLASK,
  go: GO,
  nginx: NGINX,
};

export function isStack(name: string): name is Stack {
  return STACKS.some((stack) => stack === name);
}

/**
 * One patch for a known outcome, otherwise one for each kind of finding; null for a check that the
 * seller's code cannot fix (standing).
 */
export function patchesFor(
  checkId: string,
  stack: Stack,
  values: PatchValues,
  outcome: string | null = null,
): CheckPatches | null {
  const check = CHECK_TOPICS[checkId];
  if (check === undefined) return null;
  const { leads, otherwise, byOutcome, notByCode } = check;
  const lead = leads?.[outcome ?? ''] ?? check.lead;
  if (outcome === null) {
    return { lead, patches: listTopics(check).map((topic) => writePatch(topic, stack, values)) };
  }
  const outside = notByCode?.[outcome];
  if (outside !== undefined) {
    return {
      lead,
      patches: [{ topic: otherwise, patch: { whyNot: `no code mends this: ${outside}` } }],
    };
  }
  return { lead, patches: [writePatch(byOutcome?.[outcome] ?? otherwise, stack, values)] };
}

export function writePatch(topic: Topic, stack: Stack, values: PatchValues): TopicPatch {
  const patches = PATCHES[stack];
  if (!isDocument(topic)) return { topic, patch: withInstall(patches[topic](values)) };
  const document = DOCUMENTS[topic](values);
  if (values.routes.some((route) => toOpenApiPath(route) === document.path)) {
    return {
      topic,
      patch: whyNot(`GET ${document.path} is sold: sell it under another path first`),
    };
  }
  return { topic, patch: withInstall({ parts: patches.serve(document, values) }) };
}

/** Adds a first line with the command that installs the imported packages. */
export function withInstall(patch: Patch): Patch {
  if ('whyNot' in patch) return patch;
  return {
    parts: patch.parts.map((one) => {
      const install = installLine(one);
      return install === null ? one : { ...one, code: `${install}\n${one.code}` };
    }),
  };
}

function isDocument(topic: Topic): topic is DocumentTopic {
  return DOCUMENT_TOPICS.some((document) => document === topic);
}

type TrialTopic = 'paid-route' | 'bazaar' | 'no-store' | 'claim-payment' | 'upstream';

/** The patch that fixes a failure of each trial. */
const TOPICS: Readonly<Record<string, TrialTopic>> = {
  T1: 'paid-route',
  T2: 'paid-route',
  T3: 'paid-route',
  T4: 'paid-route',
  T5: 'paid-route',
  T6: 'upstream',
  T7: 'claim-payment',
  T8: 'claim-payment',
  T9: 'paid-route',
  T10: 'paid-route',
  T11: 'paid-route',
  T12: 'upstream',
  T13: 'no-store',
  T14: 'paid-route',
  T15: 'bazaar',
  T16: 'paid-route',
  T17: 'paid-route',
  T18: 'paid-route',
};

const UPSTREAM = whyNot(
  'only the middleware can fix it: install its newest version, and read about it in docs/pay-test.md',
);

export type TrialPatch = { readonly topic: TrialTopic; readonly patch: Patch };

/** `trialId` is one of T1 to T18. */
export function trialPatch(trialId: string, stack: Stack, values: PatchValues): TrialPatch {
  const topic = TOPICS[trialId] ?? 'upstream';
  if (topic === 'upstream') return { topic, patch: UPSTREAM };
  if (topic === 'claim-payment') return { topic, patch: withInstall(claimPayment(stack)) };
  return { topic, patch: writePatch(topic, stack, values).patch };
}
