/** S5: challenges of POST resources tell marketplaces how to call them. Rule: README.md. */
import {
  defineCheck,
  type Finding,
  type Found,
  fail,
  notApplicable,
  notEvaluated,
  notSeen,
  pass,
  warn,
  worst,
} from '#check';
import type { Kit } from '#kit';
import type { ResourceObservation } from '#model';
import type { JsonValue } from '#parse/json';

const TRANSPORTS: ReadonlySet<unknown> = new Set([undefined, 'streamable-http', 'sse']);
/** The scan follows one redirect of a POST, on the same origin. An answer with these statuses is a further redirect. */
const REDIRECT_STATUSES: ReadonlySet<number | null> = new Set([307, 308]);
const BODY_TYPES: ReadonlySet<unknown> = new Set(['json', 'form-data', 'text']);
/** specs/extensions/bazaar.md: "Must use JSON Schema Draft 2020-12". */
const SCHEMA_DRAFT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

const DECLARE_FIX = 'Declare the bazaar extension, with an input example, on each POST route.';

const POINTER = '/extensions/bazaar';
const OTHER_PLACES = [
  '/bazaar',
  '/resource/extensions/bazaar',
  '/accepts/0/extensions/bazaar',
  '/accepts/0/extra/bazaar',
  '/accepts/0/outputSchema',
];
const MOVE_FIX =
  'Put the declaration at extensions.bazaar of the challenge, with info and schema directly in it.';

const OUTCOMES = {
  'no-post-resource': notApplicable(DECLARE_FIX),
  absent: fail(DECLARE_FIX),
  'bad-input': fail(
    'Give info.input a type "http", a method "POST", bodyType and body; for MCP type, toolName and inputSchema.',
  ),
  'bad-schema': fail(
    'Make bazaar.schema the JSON Schema 2020-12 of bazaar.info, not of the body: define properties.input, with local $ref only.',
  ),
  'example-invalid': fail(
    'Give an input example: without one the AgentCash router sends a body that your schema refuses.',
  ),
  'body-only': warn('Send the extensions in PAYMENT-REQUIRED too, where clients read them.'),
  'no-output-example': warn('Add an output example: agents see what they would buy.'),
  complete: pass('Keep the examples valid.'),
};
type Kind = keyof typeof OUTCOMES;
type Rule = readonly [member: string, isRight: (value: JsonValue | undefined) => boolean];

export default defineCheck({
  id: 'S5',
  version: 2,
  says: {
    right: 'Challenges of POST resources tell marketplaces how to call them.',
    wrong: 'Marketplaces cannot tell from the challenge how to call a POST resource.',
    unjudged: 'It is not known whether marketplaces can tell how to call the POST resources.',
  },
  needs: ['resources'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    const selling = kit.selling(resources);
    // If GET and POST get equal terms, `challenged` has only one of them, perhaps GET. `isPostResource` then decides.
    const byPost = kit.challenged(resources).filter(({ probe }) => probe.method === 'POST');
    const posts = selling.filter(
      (paid) => byPost.some(({ resource }) => resource === paid) || isPostResource(paid, kit),
    );
    if (posts.length === 0) {
      const unseen = kit.describeUnseen(resources, 'POST');
      if (unseen !== null) return notSeen('unseen', unseen, DECLARE_FIX);
      return ['no-post-resource', `none of ${selling.length} paid resources takes POST`];
    }
    const candidates = posts.filter((resource) => !kit.isMadeUp(resource));
    if (candidates.length === 0) {
      const evidence = `we sent POST only with made-up ids: ${kit.answers(posts)}`;
      return notSeen('unseen', evidence, DECLARE_FIX);
    }
    const findings = candidates.map((each) => inspect(each, kit)).filter((each) => each !== null);
    if (findings.length === 0) return judgeSilence(candidates, kit);
    const share = `${findings.length} of ${candidates.length} POST resources`;
    return worst(OUTCOMES, findings) ?? ['complete', `${share} describe input and output`];
  },
});

function judgeSilence(posts: readonly ResourceObservation[], kit: Kit): Finding<Kind> {
  const answers = kit.answers(posts);
  const isUnseen = posts.every((resource) => {
    const status = kit.status(resource, 'POST');
    return status === undefined || REDIRECT_STATUSES.has(status) || kit.validatesFirst(resource);
  });
  // The seller challenges only requests that the scan does not send, such as one with valid input.
  if (isUnseen) return notSeen('unseen', `POST got no challenge: ${answers}`, DECLARE_FIX);
  return notEvaluated(
    'P2',
    `POST got no challenge: ${answers}`,
    'Answer POST with a challenge, as P2 says.',
  );
}

/** True if POST is declared, if only POST gets a challenge, or if the challenge declares an input for POST. */
function isPostResource(resource: ResourceObservation, kit: Kit): boolean {
  if (kit.isPostOnly(resource)) return true;
  const answer = resource.probes.find(({ method }) => method === 'POST')?.answer;
  if (!answer?.ok || answer.data.status !== 402) return false;
  if (kit.status(resource, 'GET') !== 402) return true;
  const { challenge } = kit.challenge(answer.data);
  const input = kit.at(challenge?.value, '/extensions/bazaar/info/input/method');
  return resource.method === null && input === 'POST';
}

/** Judges the challenge that POST got; null if POST got none. */
function inspect(resource: ResourceObservation, kit: Kit): readonly Found<Kind>[] | null {
  const probe = resource.probes.find(({ method }) => method === 'POST');
  if (!probe?.answer.ok || probe.answer.data.status !== 402) return null;
  const reading = kit.challenge(probe.answer.data);
  const { header, body, challenge } = reading;
  if (challenge === null) return null;

  const inHeader = header.state === 'ok' ? kit.at(header.value, POINTER) : undefined;
  const inBody = body.ok ? kit.at(body.value, POINTER) : undefined;
  const bazaar = inHeader ?? inBody;
  const found =
    bazaar === undefined
      ? findElsewhere(challenge.value, kit)
      : inspectBazaar(bazaar, inHeader !== undefined, kit);
  if (found === null) return [];
  const request = kit.request('POST', resource.path);
  // If a challenge has two copies, the evidence names the copy that was judged.
  if (inHeader !== undefined) {
    return kit
      .inCopy(reading, [found])
      .map(([kind, text, fix]) => [kind, `${request} ${text}`, fix]);
  }
  const [kind, text, fix] = found;
  // `absent` is about both copies, and the text of `body-only` names the header itself.
  const isAboutBody = challenge.where === 'header' && kind !== 'absent' && kind !== 'body-only';
  return [[kind, `${request} ${isAboutBody ? 'in its body: ' : ''}${text}`, fix]];
}

/** Sellers of version 1 put the declaration into the offer. */
function findElsewhere(challenge: JsonValue, kit: Kit): Found<Kind> {
  const place = OTHER_PLACES.find((pointer) => kit.at(challenge, pointer) !== undefined);
  if (place === undefined) return ['absent', `${POINTER} is missing`];
  return ['absent', `${POINTER} is missing, and ${place} is read by nobody`, MOVE_FIX];
}

/** Returns the first fault of a declaration; null if it is complete. */
function inspectBazaar(bazaar: JsonValue, isInHeader: boolean, kit: Kit): Found<Kind> | null {
  const member = findWrongMember(bazaar, kit);
  if (member !== undefined && kit.at(bazaar, '/bazaar/info') !== undefined) {
    return ['bad-input', `${POINTER}/bazaar: the declaration is nested twice`, MOVE_FIX];
  }
  if (member !== undefined) {
    return ['bad-input', `${POINTER}${member}: ${kit.show(kit.at(bazaar, member))}`];
  }
  const schema = kit.at(bazaar, '/schema');
  const draft = kit.at(schema, '/$schema');
  if (typeof schema !== 'object' || !isKnownDraft(draft)) {
    const shown = typeof schema === 'object' ? draft : schema;
    return ['bad-schema', `${POINTER}/schema: ${kit.show(shown)}`];
  }
  const [error] = kit.schemaErrors(schema, kit.at(bazaar, '/info') ?? null);
  // An error of the schema itself begins with "schema", an error of `info` with its pointer.
  if (error?.startsWith('schema')) return ['bad-schema', `${POINTER}: ${error}`];
  if (!definesInput(schema, kit)) {
    const evidence = `${POINTER}/schema/properties/input: missing; the schema describes info, not the body`;
    return ['bad-schema', evidence];
  }
  if (error !== undefined) {
    return ['example-invalid', `${POINTER}/info does not fit its schema: ${error}`];
  }
  if (!isInHeader) return ['body-only', `${POINTER} is not in the header`];
  // An MCP tool that declares no output returns text (bazaar.md, "Output Types").
  const isTool = kit.at(bazaar, '/info/input/type') === 'mcp';
  const output = kit.at(bazaar, '/info/output');
  if (kit.at(output, '/example') === undefined && !(isTool && output === undefined)) {
    return ['no-output-example', `${POINTER}/info/output/example is missing`];
  }
  return null;
}

function isKnownDraft(value: JsonValue | undefined): boolean {
  return value === undefined || (typeof value === 'string' && SCHEMA_DRAFT.test(value));
}

/** Facilitators do not catalog a resource whose schema accepts any `info`. Members beside a `$ref` count too. */
function definesInput(schema: JsonValue, kit: Kit): boolean {
  return [schema, kit.resolveRef(schema, schema)].some(
    (each) => kit.at(each, '/properties/input') !== undefined,
  );
}

/** Finds the pointer of the first input member that breaks a rule of the extension. */
function findWrongMember(bazaar: JsonValue, kit: Kit): string | undefined {
  const isObject = (value: JsonValue | undefined) =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const http: readonly Rule[] = [
    ['/info/input/type', (value) => value === 'http'],
    ['/info/input/method', (value) => value === 'POST'],
    ['/info/input/bodyType', (value) => BODY_TYPES.has(value)],
    ['/info/input/body', (value) => value !== undefined],
  ];
  const mcp: readonly Rule[] = [
    ['/info/input/toolName', (value) => typeof value === 'string' && value !== ''],
    ['/info/input/inputSchema', isObject],
    ['/info/input/transport', (value) => TRANSPORTS.has(value)],
    ['/info/input/example', (value) => value === undefined || isObject(value)],
  ];
  const rules = kit.at(bazaar, '/info/input/type') === 'mcp' ? mcp : http;
  return rules.find(([member, isRight]) => !isRight(kit.at(bazaar, member)))?.[0];
}
