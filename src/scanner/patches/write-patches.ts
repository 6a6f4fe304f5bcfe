import { DOCUMENTS } from './documents.ts';
import { toInstallComment } from './literals.ts';
import {
  cannotFix,
  DOCUMENT_TOPICS,
  type DocumentTopic,
  type Patch,
  type PatchPart,
  readCode,
  readPatch,
  STACKS,
  type Stack,
  type StackPatches,
  type Topic,
} from './patch.ts';
import { type PatchValues, toOpenApiPath } from './patch-values.ts';
import { writeRoute } from './route-template.ts';
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
  /** Says in one sentence what to do. */
  readonly lead: string;
  readonly patches: readonly TopicPatch[];
};

/** The question about unknown operations names so many. More names would hide it. */
const MAX_ASKED_NAMES = 5;

const STACK_PATCHES: Readonly<Record<Stack, StackPatches>> = {
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
 * Writes the patches for an outcome; without an outcome, one for each topic of the check. Returns null for a check
 * of standing, which the seller's code cannot fix.
 */
export function writePatches(
  checkId: string,
  stack: Stack,
  values: PatchValues,
  outcome: string | null = null,
): CheckPatches | null {
  const check = CHECK_TOPICS[checkId];
  if (check === undefined) return null;
  // No row is named "", which stands for no outcome.
  const name = outcome ?? '';
  const lead = check.leadsByOutcome?.[name] ?? check.lead;
  const fixWithoutCode = check.fixesWithoutCode?.[name];
  if (fixWithoutCode !== undefined) {
    const patch = cannotFix(`code cannot fix this: ${fixWithoutCode}`);
    return { lead, patches: [{ topic: check.topic, patch }] };
  }
  const topics =
    outcome === null ? listTopics(check) : [check.topicsByOutcome?.[outcome] ?? check.topic].flat();
  const question = topics.includes('openapi') ? askAboutUnknown(values) : null;
  return {
    lead: question === null ? lead : `${lead} ${question}`,
    patches: joinFiles(topics.map((topic) => writePatch(topic, stack, values))),
  };
}

/** Topics whose code is added to a program. Other topics for one file are alternatives, each with its whole code. */
const ADDED_TOPICS: ReadonlySet<Topic> = new Set([
  ...DOCUMENT_TOPICS.filter((topic) => topic !== 'manifest-entries'),
  'no-store',
]);

/** Joins the parts of a file to one program. */
function joinFiles(patches: readonly TopicPatch[]): readonly TopicPatch[] {
  const codeByFile = new Map<string, string>();
  return patches.map(({ topic, patch }) => {
    if ('whyNot' in patch) return { topic, patch };
    const parts = patch.parts.map((part) => {
      const earlier = codeByFile.get(part.file);
      codeByFile.set(part.file, `${earlier ?? ''}${part.code}`);
      return earlier === undefined || !ADDED_TOPICS.has(topic) ? part : toAddition(part, earlier);
    });
    return { topic, patch: { parts } };
  });
}

const APP_LINE = /^(?:export const )?app = /m;
const IMPORT_LINE = /^(?:import|from) /;
const INSTALL_LINE = /^(?:\/\/ npm|# pip) install (.*)/;

/** Leaves out imports, the app and packages that the earlier code of the file has. */
function toAddition(part: PatchPart, earlierCode: string): PatchPart {
  const earlierLines = new Set(earlierCode.split('\n'));
  const lines = part.code.split('\n').filter((line) => {
    if (IMPORT_LINE.test(line)) return !earlierLines.has(line);
    if (APP_LINE.test(line)) return !APP_LINE.test(earlierCode);
    const packages = INSTALL_LINE.exec(line)?.[1]?.replaceAll('"', '').split(' ');
    return !packages?.every((name) => earlierCode.includes(name));
  });
  const code = lines
    .join('\n')
    .replace(/^\n+/, '')
    .replace(/\n{4,}/g, '\n\n\n');
  return { ...part, code, isAddition: true };
}

/** Asks about operations that nobody knows to be paid or free. As code, a wrong guess would give away a sold route. */
function askAboutUnknown({ unknownOperations }: PatchValues): string | null {
  if (unknownOperations.length === 0) return null;
  const names = unknownOperations.map(
    ({ method, template }) => `${method} ${writeRoute(template, 'openapi')}`,
  );
  const unlisted = names.length - MAX_ASKED_NAMES;
  const list =
    names.slice(0, MAX_ASKED_NAMES).join(', ') + (unlisted > 0 ? ` and ${unlisted} more` : '');
  return `Are these paid or free: ${list}? Give the paid ones a 402 response and \`x-payment-info\`, and the free ones \`security: []\`.`;
}

export function writePatch(topic: Topic, stack: Stack, values: PatchValues): TopicPatch {
  const patches = STACK_PATCHES[stack];
  if (!isDocument(topic)) return { topic, patch: addInstallComment(patches[topic](values)) };
  const document = DOCUMENTS[topic](values);
  const { path } = document;
  const patch = values.routes.some((route) => toOpenApiPath(route) === path)
    ? cannotFix(`GET ${path} is a paid route: move that route to another path first`)
    : addInstallComment(patches.serve(document, values));
  return { topic, patch };
}

/** Adds the command that installs the imported packages as the first line. */
export function addInstallComment(patch: Patch): Patch {
  if ('whyNot' in patch) return patch;
  return {
    parts: patch.parts.map((patchPart) => {
      const install = toInstallComment(patchPart);
      return install === null ? patchPart : { ...patchPart, code: `${install}\n${patchPart.code}` };
    }),
  };
}

function isDocument(topic: Topic): topic is DocumentTopic {
  return DOCUMENT_TOPICS.some((document) => document === topic);
}

type TrialTopic = 'paid-route' | 'bazaar' | 'no-store' | 'claim-payment' | 'upstream';

/** Topic of the patch that fixes a failure of a trial, by the trial's id. All other trials have the topic `paid-route`. */
const TRIAL_TOPICS: Readonly<Record<string, TrialTopic>> = {
  T6: 'upstream',
  T7: 'claim-payment',
  T8: 'claim-payment',
  T12: 'upstream',
  T13: 'no-store',
  T15: 'bazaar',
};

const readJsClaims = () => ({ claims: readCode('javascript', 'claims.ts').trimEnd() });
const readPythonClaims = () => ({ claims: readCode('python', 'claims.py').trimEnd() });

/** Patches that accept each payment once. They claim the nonce before the handler runs; a 402 releases the claim. */
const CLAIM_PATCHES: Readonly<Record<Stack, () => Patch>> = {
  express: () => readPatch('express', 'claim-payment.ts', readJsClaims()),
  hono: () => readPatch('hono', 'claim-payment.ts', readJsClaims()),
  next: () => readPatch('next', 'lib/claim-payment.ts', readJsClaims()),
  fastapi: () => readPatch('fastapi', 'claim_payment.py', readPythonClaims()),
  flask: () => readPatch('flask', 'claim_payment.py', readPythonClaims()),
  go: () => readPatch('go', 'claim_payment.go'),
  nginx: () =>
    cannotFix(
      'nginx cannot, because only the application knows which payments were used. Take the patch of the stack behind nginx',
    ),
};

const UPSTREAM_PATCH = cannotFix(
  'only the middleware can fix this: install its newest version, and see docs/pay-test.md',
);

export type TrialPatch = { readonly topic: TrialTopic; readonly patch: Patch };

export function writeTrialPatch(trialId: string, stack: Stack, values: PatchValues): TrialPatch {
  const topic = TRIAL_TOPICS[trialId] ?? 'paid-route';
  if (topic === 'upstream') return { topic, patch: UPSTREAM_PATCH };
  if (topic === 'claim-payment') return { topic, patch: addInstallComment(CLAIM_PATCHES[stack]()) };
  return { topic, patch: writePatch(topic, stack, values).patch };
}
