/** Tells which OpenAPI operations are known to be free. An operation that declares nothing does not count as free. */
import type { AnswerObservation, HttpData } from '../../model/observation.ts';
import type {
  HttpObservation,
  Observations,
  ResourceObservation,
} from '../../model/observations.ts';
import { findPaymentSchemes, type OpenApiFacts, type Operation } from '../openapi/openapi.ts';
import type { ChallengeReading } from '../x402/challenge.ts';
import type { ManifestFacts } from '../x402/manifest.ts';
import { type EntryIndex, findIndexed, type IndexedEntry } from '../x402/manifest-terms.ts';
import { findMisplacement } from '../x402/misplaced-challenge.ts';
import { findOtherChallenges } from '../x402/other-protocol.ts';
import { hasAnswered402, listFirstProbes } from '../x402/resource-answers.ts';
import type { ManifestReading, ManifestSources, OpenApiSources } from './find-documents.ts';
import type { BodyComparison } from './read-document.ts';

/** The operations without a price, each in one list. Operations that answered 402 are in none. */
type UnpricedOperations = {
  /** Declared free: an empty security, an alternative without requirements, or a price of nothing in a document. */
  readonly free: readonly Operation[];
  /** Need a login of a defined scheme, such as siwx or bearer, and no payment. */
  readonly login: readonly Operation[];
  /** Declare nothing, and answered 2xx to a request without a payment. */
  readonly answered: readonly Operation[];
  /** Declare nothing, or name a scheme for payment or an undefined scheme. No answer shows that they are free. */
  readonly unknown: readonly Operation[];
};

export type UnpricedSources = OpenApiSources &
  ManifestSources &
  Pick<
    Observations,
    'origin' | 'root' | 'llmsTxt' | 'agentCard' | 'agentJson' | 'robots' | 'resources' | 'links'
  >;

type UnpricedReaders = {
  readonly sameBody: BodyComparison;
  readonly challenge: (answer: HttpData) => ChallengeReading;
  readonly manifest: (sources: ManifestSources) => ManifestReading;
  readonly entryIndex: (facts: ManifestFacts, originUrl: string) => EntryIndex;
};

/** These methods accompany other operations, and no buyer calls them on their own. */
const COMPANION_METHODS: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'TRACE']);
/** Members of a challenge, wherever a seller put them. */
const CHALLENGE_MEMBER = /"(?:x402Version|payTo|maxAmountRequired)"\s*:/;

export function sortUnpricedOperations(
  facts: OpenApiFacts,
  sources: UnpricedSources,
  readers: UnpricedReaders,
): UnpricedOperations {
  const { x402, apiKeys } = findPaymentSchemes(facts);
  const paymentSchemes = new Set([...x402, ...apiKeys]);
  const definedSchemes = new Set(facts.securitySchemes.map(({ name }) => name));
  const manifest = readers.manifest(sources);
  const entries: EntryIndex =
    manifest.state === 'found' ? readers.entryIndex(manifest.facts, sources.origin.url) : new Map();
  const unpriced = facts.operations.filter(
    (operation) =>
      !operation.paid &&
      !COMPANION_METHODS.has(operation.method) &&
      !hasAnswered402(operation, sources.resources.probed),
  );
  const unpricedPaths = new Set(unpriced.map(({ requestPath }) => requestPath));
  const freePaths = findFreePaths(unpricedPaths, sources, entries, readers);
  const lists = Object.groupBy(unpriced, (operation): keyof UnpricedOperations => {
    const access = readAccess(operation, paymentSchemes, definedSchemes);
    if (access !== 'unsaid') return access;
    if (operation.security !== null) return 'unknown';
    if (isFreeInManifest(operation, entries)) return 'free';
    // This origin answered nothing for an operation that another origin serves.
    const isHere = operation.method === 'GET' && operation.elsewhere === null;
    const isAnswered = isHere && freePaths.has(operation.requestPath);
    return isAnswered ? 'answered' : 'unknown';
  });
  return { free: [], login: [], answered: [], unknown: [], ...lists };
}

function readAccess(
  { security, costsNothing }: Operation,
  paymentSchemes: ReadonlySet<string>,
  definedSchemes: ReadonlySet<string>,
): 'free' | 'login' | 'unsaid' {
  const requirements = (security ?? []).map((requirement) => Object.keys(requirement));
  const isOpen = security?.length === 0 || requirements.some((names) => names.length === 0);
  if (isOpen) return 'free';
  const isLogin = (name: string) => !paymentSchemes.has(name) && definedSchemes.has(name);
  if (requirements.some((names) => names.every(isLogin))) return 'login';
  return costsNothing ? 'free' : 'unsaid';
}

/** Selects the paths that answered 2xx to GET, that no document sells, and whose answers carry no trace of a challenge. */
function findFreePaths(
  paths: ReadonlySet<string>,
  sources: UnpricedSources,
  entries: EntryIndex,
  readers: UnpricedReaders,
): ReadonlySet<string> {
  const { resources, links, root, openapi, openapiAlternates, soft404 } = sources;
  const { manifest, manifestJson, llmsTxt, agentCard, agentJson, robots } = sources;
  const documents = [
    ...[openapi, manifest, manifestJson, llmsTxt, agentCard, agentJson, robots],
    ...openapiAlternates.map(({ answer }) => answer),
  ];
  const others = [
    root,
    ...resources.probed.flatMap(findFirstGet),
    ...[...(resources.candidates ?? []), ...links.checked].map(({ answer }) => answer),
  ];
  const soldPaths = new Set(
    resources.probed
      .filter(({ declaredPaid, method }) => declaredPaid && method !== 'POST')
      .map(({ path }) => path),
  );
  // The tests of whole bodies come last, because they take most of the time.
  const freeAnswers = [...documents, ...others]
    .flatMap(findOwnAnswer)
    .filter(({ data }) => data.method === 'GET' && data.status >= 200 && data.status < 300)
    .map((answer) => ({ answer, path: toPath(answer.data) }))
    .filter(({ path }) => paths.has(path) && !soldPaths.has(path))
    .filter(({ path }) => !sellsGet(findIndexed(entries, [path])))
    .filter(({ answer }) => !readers.sameBody(answer, soft404))
    // A document may describe a challenge and be free. Any other answer with a trace of a challenge may be sold.
    .filter(({ answer }) => documents.includes(answer) || !hasChallengeTrace(answer.data, readers));
  return new Set(freeAnswers.map(({ path }) => path));
}

function toPath({ url }: HttpData): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Returns the answer of the requested address; nothing after a redirect, whose answer is of another address. */
function findOwnAnswer(answer: HttpObservation): readonly AnswerObservation<HttpData>[] {
  if (!answer.ok) return [];
  const { redirects, refusedRedirect } = answer.data;
  return redirects.length === 0 && refusedRedirect === undefined ? [answer] : [];
}

function findFirstGet(resource: ResourceObservation): readonly HttpObservation[] {
  if (resource.tool !== undefined) return [];
  const probes = listFirstProbes(resource).filter(({ method }) => method === 'GET');
  return probes.map(({ answer }) => answer);
}

function hasChallengeTrace(answer: HttpData, { challenge }: UnpricedReaders): boolean {
  const reading = challenge(answer);
  if (reading.header.state !== 'absent' || reading.challenge !== null) return true;
  if (findMisplacement(answer, reading) !== null) return true;
  // A challenge of another protocol is a trace too, although its status is not 402.
  if (findOtherChallenges({ ...answer, status: 402 }).length > 0) return true;
  return CHALLENGE_MEMBER.test(answer.body);
}

function sellsGet(entries: readonly IndexedEntry[]): boolean {
  return entries.some(
    ({ entry }) => entry.sale !== 'free' && (entry.method ?? 'GET').toUpperCase() === 'GET',
  );
}

/** True if the manifest gives the operation a price of nothing, and no entry sells it. */
function isFreeInManifest({ method, route, requestPath }: Operation, index: EntryIndex): boolean {
  const entries = findIndexed(index, [route, requestPath]).filter(
    ({ entry }) => (entry.method ?? method).toUpperCase() === method,
  );
  return entries.length > 0 && entries.every(({ entry }) => entry.sale === 'free');
}
