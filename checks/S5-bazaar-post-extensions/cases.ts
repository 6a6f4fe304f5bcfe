import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject, JsonValue } from '../../src/parse/json/json.ts';
import {
  answer,
  bazaarExtension,
  challenge402,
  encodeChallenge,
  NOT_FOUND,
  postChallenge,
  postResource,
  resource,
  resources,
  toolResource,
} from '../../test/fixtures/observations/build-observations.ts';

const INPUT = { type: 'http', method: 'POST', bodyType: 'json', body: { text: 'Hello' } };
const OUTPUT = { type: 'json', example: { summary: 'Hi' } };
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
const unsent = resource({ method: 'POST', post: [] });

function declaring(bazaar: JsonValue): CheckCase['seen'] {
  return { resources: resources([postResource(postChallenge(bazaar))]) };
}

function input(changes: JsonObject): CheckCase['seen'] {
  return declaring(bazaarExtension({ info: { input: { ...INPUT, ...changes }, output: OUTPUT } }));
}

/** The extension that @x402/extensions declares for an MCP tool. */
function tool(changes: JsonObject, more: JsonObject = {}): CheckCase['seen'] {
  const input = { type: 'mcp', toolName: 'analysis', inputSchema: { type: 'object' }, ...changes };
  const schema = { $schema: DRAFT, type: 'object', required: ['input'] };
  return declaring(bazaarExtension({ info: { input, ...more }, schema }));
}

function schema(schema: JsonValue): CheckCase['seen'] {
  return declaring(bazaarExtension({ schema }));
}

function posting(post: Parameters<typeof resource>[0]): CheckCase['seen'] {
  return { resources: resources([resource({ method: 'POST', ...post })]) };
}

const both: readonly CheckCase[] = [
  {
    name: 'nothing is sold by POST',
    seen: { resources: resources([resource()]) },
    expect: {
      status: 'pass',
      outcome: 'no-post-resource',
      basis: 'not_applicable',
      evidence: ['1 paid resources'],
    },
  },
];

const withoutPost: readonly CheckCase[] = [
  {
    name: 'a POST resource that was not asked',
    versions: [1],
    seen: { resources: resources([resource(), unsent]) },
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['sends no POST', 'POST /summaries'],
    },
  },
  {
    name: 'no method declared, and GET is 404',
    versions: [1],
    seen: { resources: resources([resource({ method: null, get: NOT_FOUND })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined' },
  },
];

const withPost: readonly CheckCase[] = [
  {
    name: 'POST sent only with a made-up id',
    versions: [2],
    seen: posting({ path: '/users/1/notes', madeUp: true, post: NOT_FOUND }),
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['made-up ids', 'POST /users/1/notes: 404'],
    },
  },
  {
    name: 'POST that redirects twice',
    versions: [2],
    seen: posting({
      post: answer(307, '', {}, { refusedRedirect: { to: '/b', why: 'a second redirect' } }),
    }),
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['307'] },
  },
  {
    name: 'no extension',
    versions: [2],
    seen: declaring(null),
    expect: {
      status: 'fail',
      outcome: 'absent',
      evidence: ['POST /summaries /extensions/bazaar is missing'],
    },
  },
  {
    name: 'one of two has none',
    versions: [2],
    seen: {
      resources: resources([
        postResource(),
        resource({ method: 'POST', path: '/b', post: challenge402(postChallenge(null)) }),
      ]),
    },
    expect: { status: 'fail', outcome: 'absent', evidence: ['1 of 2', 'POST /b'] },
  },
  {
    name: 'the extension is text',
    versions: [2],
    seen: declaring('yes'),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/type: missing'] },
  },
  {
    name: 'the input of an MCP tool without the name of the tool',
    versions: [2],
    seen: input({ type: 'mcp' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/toolName: missing'] },
  },
  {
    name: 'an MCP tool as the extension has it, which returns text',
    versions: [2],
    seen: tool({}),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'an MCP tool with a schema that is none',
    versions: [2],
    seen: tool({ inputSchema: 'any' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/inputSchema: "any"'] },
  },
  {
    name: 'an MCP tool by a transport of its own',
    versions: [2],
    seen: tool({ transport: 'carrier pigeon' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/transport'] },
  },
  {
    name: 'an MCP tool with an example that is not an object',
    versions: [2],
    seen: tool({ example: 'AAPL' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/example: "AAPL"'] },
  },
  {
    name: 'an MCP tool that says what it returns, without an example',
    versions: [2],
    seen: tool({}, { output: { type: 'json' } }),
    expect: { status: 'warn', outcome: 'no-output-example' },
  },
  {
    name: 'the input of a GET',
    versions: [2],
    seen: input({ method: 'GET' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/method: "GET"'] },
  },
  {
    name: 'a body type of its own',
    versions: [2],
    seen: input({ bodyType: 'xml' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/bodyType: "xml"'] },
  },
  {
    name: 'the AgentCash router without an input example',
    versions: [2],
    seen: input({ body: undefined }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/body: missing'] },
  },
  {
    name: 'no schema',
    versions: [2],
    seen: schema(null),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['is not a schema: null'] },
  },
  {
    name: 'the schema is of an older draft',
    versions: [2],
    seen: schema({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['draft-07'] },
  },
  {
    name: 'the schema is none',
    versions: [2],
    seen: schema({ $schema: DRAFT, type: 'thing' }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['/type', '"thing"'] },
  },
  {
    name: 'the schema refers to another document',
    versions: [2],
    seen: schema({ $schema: DRAFT, $ref: 'https://other.example/schema.json' }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['$ref'] },
  },
  {
    name: 'an empty example although the schema requires a member',
    versions: [2],
    seen: input({ body: {} }),
    expect: {
      status: 'fail',
      outcome: 'example-invalid',
      evidence: ['/info does not fit its schema'],
    },
  },
  {
    name: 'the extension is only in the body',
    versions: [2],
    seen: posting({
      post: challenge402(postChallenge(null), { body: postChallenge() }),
    }),
    expect: { status: 'warn', outcome: 'body-only', evidence: ['not in the header'] },
  },
  {
    name: 'a body-only challenge',
    versions: [2],
    seen: posting({ post: challenge402(postChallenge(), { header: null, body: postChallenge() }) }),
    expect: { status: 'warn', outcome: 'body-only' },
  },
  {
    name: 'no output example',
    versions: [2],
    seen: declaring(bazaarExtension({ info: { input: INPUT } })),
    expect: { status: 'warn', outcome: 'no-output-example', evidence: ['/info/output/example'] },
  },
  {
    name: 'local references',
    versions: [2],
    seen: schema({
      $schema: `${DRAFT}#`,
      $defs: { input: { type: 'object', required: ['type', 'method'] } },
      properties: { input: { $ref: '#/$defs/input' } },
      required: ['input'],
    }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'no method declared, GET and POST both challenge',
    versions: [2],
    seen: {
      resources: resources([
        resource({ method: null, post: [challenge402(postChallenge()), challenge402()] }),
      ]),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'GET challenges on the path of a POST resource: the answer to POST is judged',
    versions: [2],
    seen: posting({ get: challenge402(), post: challenge402(postChallenge()) }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'all right',
    versions: [2],
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['1 of 1 POST resources'] },
  },
  {
    name: 'one of two POST resources challenges',
    versions: [2],
    seen: {
      resources: resources([
        postResource(),
        resource({ method: 'POST', path: '/b', post: answer(422) }),
      ]),
    },
    expect: { status: 'pass', outcome: 'complete', evidence: ['1 of 2'] },
  },
  {
    name: 'every POST validates before it challenges',
    versions: [2],
    seen: posting({ post: answer(422) }),
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['POST /summaries: 422'],
    },
  },
  {
    name: 'a recording of a catalog without POST',
    versions: [2],
    seen: { resources: resources([resource(), unsent]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined' },
  },
  {
    name: 'the POST resource answers unpaid',
    versions: [2],
    seen: posting({ post: answer(200, { summary: 'Hi' }) }),
    expect: {
      status: 'fail',
      outcome: 'prerequisite-failed',
      basis: 'not_evaluated',
      evidence: ['see P2', 'POST /summaries: 200'],
    },
  },
  {
    name: 'a tool whose challenge does not say how to call it',
    versions: [2],
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['/mcp#forecast'] },
  },
  {
    name: 'a 402 to POST that holds no challenge',
    versions: [2],
    seen: posting({ post: answer(402, {}, { 'payment-required': encodeChallenge('pay') }) }),
    expect: { status: 'fail', outcome: 'prerequisite-failed', basis: 'not_evaluated' },
  },
];

const cases = [...both, ...withoutPost, ...withPost];

export default cases;
