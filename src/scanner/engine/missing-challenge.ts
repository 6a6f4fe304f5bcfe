/** The findings of both versions of P2 about resources that gave no challenge, with a fix for each kind. */
import type { HttpObservation, ResourceObservation, ResourceSet } from '../model/observations.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { SellerStack } from '../parse/text/seller-stack.ts';
import type { ChallengedResource } from '../parse/x402/challenge.ts';
import { type Found, fail, listed } from './findings.ts';
import {
  describeServers,
  describeUnsent,
  ELSEWHERE_FIX,
  FIREWALL_FIX,
  isGuardedEverywhere,
} from './nothing-paid.ts';

const STATUS_FIX = 'Answer with status 402: the challenge is there, and only the status is wrong.';
const WHOLE_FIX =
  'Put the whole challenge in PAYMENT-REQUIRED: x402Version, resource, and accepts as a list of offers.';
export const CHALLENGE_FIX =
  'Mount the x402 middleware before the route and check its facilitator URL.';
const UNPAID_FIX =
  'Ask for the payment before the handler runs; if the route is free, price it 0; if the first calls are free, answer 402 to callers without a payment: the scan cannot see that later calls cost.';
const ABSENT_FIX =
  'Serve what the documents sell at the address and by the method that they state, or take it out of them.';
const TOOL_FIX =
  'Answer an unpaid call with isError true, and the challenge in structuredContent and in content[0].text.';
const SERVER_FIX =
  "Read the server's log and mend what fails before the 402: a facilitator that is away, or a challenge that needs more than an empty call.";
const LOGIN_FIX =
  'Ask for the payment before the login: a caller without a key must get the 402, which names the price.';
const BESIDE_FIX =
  'Send the x402 challenge beside the other one: the documents sell this route over x402.';

/** Fixes for a cause that the place of the challenge gives away. */
const FIXES_BY_CAUSE = {
  authenticate:
    'Set status 402 after WWW-Authenticate: the challenge is there, and some servers turn 402 into 401 with that header.',
  detail:
    'Return a JSONResponse with status 402 and PAYMENT-REQUIRED: HTTPException puts its detail under /detail.',
  misplaced:
    'Answer with status 402, and send the challenge in PAYMENT-REQUIRED, as base64 of its JSON.',
} as const;
const PHP_STATUS_FIX =
  'Call http_response_code(402) after header("WWW-Authenticate: …"): PHP sets 401 with that header.';

export const VERSION_2_FIX =
  'Move to x402 version 2: install the newest x402 middleware for your language.';
/** The middlewares of version 2, by the stack that a seller shows. */
const VERSION_2_MIDDLEWARES: Readonly<Partial<Record<SellerStack, string>>> = {
  express: '@x402/express',
  next: '@x402/next',
  python: 'x402 2.x for Python',
  go: 'the Go module github.com/x402-foundation/x402/go/v2',
};

/** Names the middleware of the seller's own stack; undefined if no answer shows a stack that has one. */
export function findVersion2Fix(answers: readonly HttpObservation[], kit: Kit): string | undefined {
  const stack = kit.stack(answers);
  const middleware = stack === null ? undefined : VERSION_2_MIDDLEWARES[stack];
  return middleware && `Move to x402 version 2: install ${middleware}.`;
}

const MAX_METHODS = 5;

/** Answers that stand in place of a challenge, in order of precedence. */
const MISPLACED_OUTCOMES = {
  'other-status': fail(STATUS_FIX),
  'other-header': fail(
    'Send the challenge in PAYMENT-REQUIRED, as base64 of its JSON: clients read no other header.',
  ),
  'raw-json': fail('Encode the JSON of PAYMENT-REQUIRED as standard base64.'),
  base64url: fail('Encode PAYMENT-REQUIRED as standard base64 ("+", "/", padding), not base64url.'),
  nested: fail(
    'Put x402Version, resource and accepts at the top of the JSON, and send it as base64 in PAYMENT-REQUIRED.',
  ),
  'not-a-challenge': fail(WHOLE_FIX),
  undecodable: fail('Send PAYMENT-REQUIRED once, as padded standard base64 of UTF-8 JSON.'),
  'own-terms': fail(WHOLE_FIX),
  page: fail(
    'Send PAYMENT-REQUIRED with every 402, and a page in place of JSON only to clients that ask for text/html.',
  ),
  'no-terms': fail(
    'Read the log of the payment middleware and ask its facilitator: the 402 comes without terms.',
  ),
};

export const ANSWERED_402_OUTCOMES = {
  ...MISPLACED_OUTCOMES,
  'other-protocol': fail('Offer x402 too: mount an x402 middleware on the same routes.'),
};

export const MISSING_402_OUTCOMES = {
  unpaid: fail(UNPAID_FIX),
  'no-402': fail(CHALLENGE_FIX),
};

type Answered402 = keyof typeof ANSWERED_402_OUTCOMES;

/** Formats the resources of P2 that are counted apart: "; 2 more are sold over MPP: tempo; 1 of 3 not known: 429". */
export function formatUncountedNote(resources: ResourceSet, kit: Kit): string {
  return [kit.describeOtherSales(resources), kit.describeNotKnown(resources)]
    .filter((note) => note !== null)
    .map((note) => `; ${note}`)
    .join('');
}

/** Formats what P2 left out of its count: "; we asked 6 of 41 declared; 1 ask for a sign-in". */
export function formatSampleNote(
  resources: ResourceSet,
  madeUpCount: number,
  soft404: HttpObservation,
  kit: Kit,
): string {
  const { probed: allProbed, declared, unsent = [], looked } = resources;
  // A resource that only an index names is not part of the sample.
  const probed = allProbed.filter(({ declaredPaid, sources }) => declaredPaid || isOwn(sources));
  const ownUnsent = unsent.filter(({ source }) => source !== 'index');
  const signInCount = kit.signIns(resources).length;
  const sampleSize = probed.length - signInCount - madeUpCount;
  return [
    sampleSize === declared ? '' : `; we asked ${sampleSize} of ${declared} declared`,
    signInCount > 0 ? `; ${signInCount} ask for a sign-in` : '',
    madeUpCount > 0 ? `; we asked ${madeUpCount} with a made-up id` : '',
    ...(allProbed.some(({ tool }) => tool !== undefined) ? [] : looked)
      .filter((line) => line.startsWith('MCP at '))
      .map((line) => `; ${line}`),
    isGuardedEverywhere(soft404) ? '; every path asks for a payment' : '',
    ownUnsent.length > 0 ? `; ${describeUnsent(ownUnsent, kit)}` : '',
    describeRedirectedGets(resources, kit),
  ].join('');
}

/** httpx follows no redirect by default. requests and fetch do. */
function describeRedirectedGets(resources: ResourceSet, kit: Kit): string {
  const lines = listRedirected('GET', kit.challenged(resources), kit);
  return lines.length > 0 ? `; ${listed(lines)}, which Python's httpx client does not follow` : '';
}

/** Returns a line such as "POST /sum: 307 to "/sum/"" for each challenge that came after a redirect. */
export function listRedirected(
  method: 'GET' | 'POST',
  challenged: readonly ChallengedResource[],
  kit: Kit,
): readonly string[] {
  return challenged.flatMap(({ resource, probe, answer }) => {
    const [redirect] = answer.redirects;
    if (probe.method !== method || redirect === undefined) return [];
    const { pathname, search } = new URL(answer.url);
    const request = kit.request(method, resource.path);
    return [`${request}: ${redirect.status} to ${kit.quote(pathname + search)}`];
  });
}

/** Judges an origin of whose paid resources nothing is known; null if it has none. */
export function judgeNotKnown(resources: ResourceSet, kit: Kit): Found<'rate-limited'> | null {
  const notKnown = kit.describeNotKnown(resources);
  if (notKnown === null) return null;
  return ['rate-limited', `${notKnown}: ${kit.answers(kit.notKnown(resources))}`];
}

/** Judges resources that hold a misplaced challenge, or that answer 402 without one; null if there is none. */
export function judgeMisplaced(
  failingResources: readonly ResourceObservation[],
  kit: Kit,
): Found<Answered402> | null {
  const misplaced = findMisplaced(failingResources, kit);
  if (misplaced !== null) return [misplaced.name, kit.answers(failingResources), misplaced.fix];
  const challenges = failingResources.flatMap((resource) => listOtherChallenges(resource, kit));
  if (challenges.length === 0) return null;
  const protocols = [...new Set(challenges.map(({ protocol }) => protocol))].join(' and ');
  const methods = [...new Set(challenges.flatMap((each) => each.methods))].slice(0, MAX_METHODS);
  const methodsNote = methods.length === 0 ? '' : `; methods: ${methods.join(', ')}`;
  const evidence = `the 402 asks over ${protocols}, not over x402: ${kit.answers(failingResources)}${methodsNote}`;
  return ['other-protocol', evidence, findBesideFix(failingResources)];
}

/** Judges resources that answer no 402 and hold no challenge. */
export function judgeMissing402(
  failingResources: readonly ResourceObservation[],
  { elsewhere: otherServers = [] }: ResourceSet,
  kit: Kit,
): Found<keyof typeof MISSING_402_OUTCOMES> {
  const answers = kit.answers(failingResources);
  const isUnpaid = failingResources.some((resource) => answersUnpaid(resource, kit));
  const name = isUnpaid ? 'unpaid' : 'no-402';
  if (otherServers.length > 0) {
    return [name, `${answers}; ${describeServers(otherServers)}`, ELSEWHERE_FIX];
  }
  return [name, answers, isUnpaid ? undefined : findRefusalFix(failingResources, kit)];
}

/** Finds the fix of `some-missing`, which names what the resources without a challenge hold; undefined for none. */
export function findMissingFix(
  failingResources: readonly ResourceObservation[],
  kit: Kit,
): string | undefined {
  const misplaced = findMisplaced(failingResources, kit);
  if (misplaced !== null) return misplaced.fix;
  if (failingResources.some((resource) => listOtherChallenges(resource, kit).length > 0)) {
    return BESIDE_FIX;
  }
  if (failingResources.every((resource) => answersUnpaid(resource, kit))) return UNPAID_FIX;
  return findRefusalFix(failingResources, kit);
}

function findMisplaced(resources: readonly ResourceObservation[], kit: Kit) {
  const misplacements = resources.flatMap((resource) => kit.misplacement(resource) ?? []);
  const names = Object.keys(MISPLACED_OUTCOMES);
  const [first] = misplacements.toSorted((a, b) => names.indexOf(a.kind) - names.indexOf(b.kind));
  if (first === undefined) return null;
  const { kind, cause } = first;
  if (cause === undefined) return { name: kind, fix: MISPLACED_OUTCOMES[kind].fix };
  const answers = resources.flatMap(({ probes }) => probes.map(({ answer }) => answer));
  const isPhp = cause === 'authenticate' && kit.stack(answers) === 'php';
  return { name: kind, fix: isPhp ? PHP_STATUS_FIX : FIXES_BY_CAUSE[cause] };
}

/** Filters the first probes itself, because what checks import loads no parser: the kit brings the parsers. */
function listOtherChallenges({ probes }: ResourceObservation, kit: Kit) {
  return probes
    .filter(({ method, number }) => method !== 'HEAD' && number === 1)
    .flatMap(({ answer }) => (answer.ok ? kit.otherChallenges(answer.data) : []));
}

/** If the documents sell each resource over x402, the general fix ("Offer x402 too") would miss the fault. */
function findBesideFix(resources: readonly ResourceObservation[]): string | undefined {
  return resources.every(({ declaredX402 }) => declaredX402 === true) ? BESIDE_FIX : undefined;
}

function answersUnpaid(resource: ResourceObservation, kit: Kit): boolean {
  const method = kit.isPostOnly(resource) ? 'POST' : 'GET';
  const status = kit.status(resource, method) ?? 0;
  return status >= 200 && status < 300;
}

const ABSENT_STATUSES: ReadonlySet<number | null | undefined> = new Set([404, 405, 410]);

/** Returns true if no request found the resource: documents may still list a route that is gone. */
function isAbsent(resource: ResourceObservation, kit: Kit): boolean {
  const statuses = (['GET', 'POST'] as const)
    .map((method) => kit.status(resource, method))
    .filter((status) => status !== undefined);
  return statuses.length > 0 && statuses.every((status) => ABSENT_STATUSES.has(status));
}

/** A login answers 401, a firewall or a bot protection 403, and a route that fails 5xx. */
function findRefusalFix(
  failingResources: readonly ResourceObservation[],
  kit: Kit,
): string | undefined {
  const haveAll = (isSought: (status: number) => boolean) =>
    failingResources.every(
      (resource) =>
        isSought(kit.status(resource, 'GET') ?? 0) || isSought(kit.status(resource, 'POST') ?? 0),
    );
  if (failingResources.every(({ tool }) => tool !== undefined)) return TOOL_FIX;
  if (haveAll((status) => status === 401)) return LOGIN_FIX;
  if (haveAll((status) => status === 403)) return FIREWALL_FIX;
  if (haveAll((status) => status >= 500)) return SERVER_FIX;
  return failingResources.every((resource) => isAbsent(resource, kit)) ? ABSENT_FIX : undefined;
}

function isOwn(sources: ResourceObservation['sources']): boolean {
  return sources.some((source) => source !== 'index');
}
