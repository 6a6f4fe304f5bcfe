/** S5: challenges of POST resources tell marketplaces how to call them. Rule: README.md. */
import {
  defineCheck,
  type Finding,
  type Found,
  fail,
  notApplicable,
  pass,
  warn,
  worst,
} from '../../src/engine/define-check.ts';
import type { ResourceObservation } from '../../src/model/observations.ts';
import { notEvaluated, notSeen } from '../../src/model/verdict.ts';
import type { JsonValue } from '../../src/parse/json/json.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

const TRANSPORTS: ReadonlySet<unknown> = new Set([undefined, 'streamable-http', 'sse']);
/** A POST is sent on once, to its own origin: what redirects again, or elsewhere, is not followed. */
const REDIRECTS: ReadonlySet<number | null> = new Set([307, 308]);
const BODY_TYPES: ReadonlySet<unknown> = new Set(['json', 'form-data', 'text']);
/** specs/extensions/bazaar.md: "Must use JSON Schema Draft 2020-12". */
const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

const DECLARE_FIX = 'Declare the bazaar extension, with an input example, on each POST route.';

const OUTCOMES = {
  'no-post-resource': notApplicable(DECLARE_FIX),
  absent: fail(DECLARE_FIX),
  'bad-input': fail(
    'Give info.input type "http", method "POST", bodyType and body; MCP: type, toolName, inputSchema.',
  ),
  'bad-schema': fail('Make bazaar.schema JSON Schema 2020-12, with local $ref only.'),
  'example-invalid': fail(
    'Give an input example: without one the AgentCash router sends a body that fails its own schema.',
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
    const byPost = kit.challenged(resources).filter(({ probe }) => probe.method === 'POST');
    const posts = selling.filter((one) => {
      // A middleware that challenges every method of a path sells no second thing by POST.
      const sellsByPost = byPost.some(({ resource }) => resource === one);
      return sellsByPost || isByPost(one, kit);
    });
    if (posts.length === 0) {
      return ['no-post-resource', `none of ${selling.length} paid resources takes POST`];
    }
    const candidates = posts.filter((one) => !kit.isMadeUp(one));
    if (candidates.length === 0) {
      const evidence = `we had only made-up ids to send POST with: ${kit.answers(posts)}`;
      return notSeen('unseen', evidence, DECLARE_FIX);
    }
    const findings = candidates.map((one) => inspect(one, kit)).filter((one) => one !== null);
    if (findings.length === 0) return judgeSilence(candidates, kit);
    const count = `${findings.length} of ${candidates.length} POST resources`;
    return worst(OUTCOMES, findings) ?? ['complete', `${count} describe input and output`];
  },
});

function judgeSilence(posts: readonly ResourceObservation[], kit: Kit): Finding<Kind> {
  const answers = kit.answers(posts);
  const isUnseen = posts.every((one) => {
    const status = kit.status(one, 'POST');
    return status === undefined || REDIRECTS.has(status) || kit.validatesFirst(one);
  });
  // Only a valid body, another place, or a POST at all, would show it.
  if (isUnseen) return notSeen('unseen', `POST got no challenge: ${answers}`, DECLARE_FIX);
  return notEvaluated(
    'P2',
    `POST got no challenge: ${answers}`,
    'Answer POST with a challenge, as P2 says.',
  );
}

/** True if the method is declared, the answers show it, or GET gets the same challenge. */
function isByPost(resource: ResourceObservation, kit: Kit): boolean {
  if (kit.isPostOnly(resource)) return true;
  const answer = resource.probes.find(({ method }) => method === 'POST')?.answer;
  if (!answer?.ok || answer.data.status !== 402) return false;
  if (kit.status(resource, 'GET') !== 402) return true;
  const { challenge } = kit.challenge(answer.data);
  const input = kit.at(challenge?.value, '/extensions/bazaar/info/input/method');
  return resource.method === null && input === 'POST';
}

/** Null if POST brought no challenge. */
function inspect(resource: ResourceObservation, kit: Kit): readonly Found<Kind>[] | null {
  const probe = resource.probes.find(({ method }) => method === 'POST');
  if (!probe?.answer.ok || probe.answer.data.status !== 402) return null;
  const { header, body, challenge } = kit.challenge(probe.answer.data);
  if (challenge === null) return null;

  const request = kit.request('POST', resource.path);
  const pointer = '/extensions/bazaar';
  const inHeader = header.state === 'ok' ? kit.at(header.value, pointer) : undefined;
  const bazaar = inHeader ?? (body.ok ? kit.at(body.value, pointer) : undefined);
  if (bazaar === undefined) return [['absent', `${request} ${pointer} is missing`]];

  const wrong = wrongInput(bazaar, kit);
  if (wrong !== undefined) {
    return [['bad-input', `${request} ${pointer}${wrong}: ${kit.show(kit.at(bazaar, wrong))}`]];
  }
  const schema = kit.at(bazaar, '/schema');
  const dialect = kit.at(schema, '/$schema');
  if (typeof schema !== 'object' || !isDialect(dialect)) {
    const shown = typeof schema === 'object' ? dialect : schema;
    return [['bad-schema', `${request} ${pointer}/schema: ${kit.show(shown)}`]];
  }
  const [error] = kit.schemaErrors(schema, kit.at(bazaar, '/info') ?? null);
  if (error !== undefined) {
    if (error.startsWith('schema')) return [['bad-schema', `${request} ${pointer}: ${error}`]];
    return [['example-invalid', `${request} ${pointer}/info does not fit its schema: ${error}`]];
  }
  if (inHeader === undefined) return [['body-only', `${request} ${pointer} is not in the header`]];
  // An MCP tool returns text, if it does not say otherwise (bazaar.md, "Output Types").
  const isTool = kit.at(bazaar, '/info/input/type') === 'mcp';
  const output = kit.at(bazaar, '/info/output');
  if (kit.at(output, '/example') === undefined && !(isTool && output === undefined)) {
    return [['no-output-example', `${request} ${pointer}/info/output/example is missing`]];
  }
  return [];
}

function isDialect(value: JsonValue | undefined): boolean {
  return value === undefined || (typeof value === 'string' && DIALECT.test(value));
}

/** Pointer of the first member of the input that is not as the extension has it. */
function wrongInput(bazaar: JsonValue, kit: Kit): string | undefined {
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
