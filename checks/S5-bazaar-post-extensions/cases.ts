import type { CheckCase } from '#check';
import type { JsonObject, JsonValue } from '#parse/json';
import {
  answer,
  bazaarExtension,
  challenge402,
  challengeV2,
  encodeChallenge,
  NOT_FOUND,
  offer,
  postChallenge,
  postResource,
  resource,
  resources,
  toolResource,
} from '../../test/fixtures/observations/build-observations.ts';

const INPUT = { type: 'http', method: 'POST', bodyType: 'json', body: { text: 'Hello' } };
const OUTPUT = { type: 'json', example: { summary: 'Hi' } };
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
const unsentPost = resource({ method: 'POST', post: [] });

function withBazaar(bazaar: JsonValue): CheckCase['seen'] {
  return { resources: resources([postResource(postChallenge(bazaar))]) };
}

function withInput(changes: JsonObject): CheckCase['seen'] {
  return withBazaar(bazaarExtension({ info: { input: { ...INPUT, ...changes }, output: OUTPUT } }));
}

/** A declaration as @x402/extensions makes it for an MCP tool. `changes` are members of its input, `more` of its info. */
function withTool(changes: JsonObject, more: JsonObject = {}): CheckCase['seen'] {
  const input = { type: 'mcp', toolName: 'analysis', inputSchema: { type: 'object' }, ...changes };
  const schema = { $schema: DRAFT, type: 'object', properties: { input: {} } };
  return withBazaar(bazaarExtension({ info: { input, ...more }, schema }));
}

function withSchema(schema: JsonValue): CheckCase['seen'] {
  return withBazaar(bazaarExtension({ schema }));
}

function withPost(post: Parameters<typeof resource>[0]): CheckCase['seen'] {
  return { resources: resources([resource({ method: 'POST', ...post })]) };
}

const casesOfBothVersions: readonly CheckCase[] = [
  {
    name: 'the seller sells nothing by POST',
    seen: { resources: resources([resource()]) },
    expect: {
      status: 'pass',
      outcome: 'no-post-resource',
      basis: 'not_applicable',
      evidence: ['1 paid resources'],
    },
  },
  {
    name: 'the only POST resource answers 429',
    seen: withPost({ get: answer(429), post: answer(429) }),
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['1 of 1 not known: 429'],
    },
  },
  {
    name: 'a GET is sold, and another GET answers 429',
    seen: { resources: resources([resource(), resource({ path: '/b', get: answer(429) })]) },
    expect: { status: 'pass', outcome: 'no-post-resource', basis: 'not_applicable' },
  },
  {
    name: 'nothing was judged, because a document was not read',
    seen: { resources: resources([], { unread: ['GET /openapi.json: 429'] }) },
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['GET /openapi.json: 429'],
    },
  },
];

const casesWithoutPost: readonly CheckCase[] = [
  {
    name: 'no POST was sent to a POST resource',
    versions: [1],
    seen: { resources: resources([resource(), unsentPost]) },
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['sends no POST', 'POST /summaries'],
    },
  },
  {
    name: 'no document declares a method, and GET answers 404',
    versions: [1],
    seen: { resources: resources([resource({ method: null, get: NOT_FOUND })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined' },
  },
];

const casesWithPost: readonly CheckCase[] = [
  {
    name: 'the only POST answers a made-up id with 404',
    versions: [2],
    seen: withPost({ path: '/users/1/notes', madeUp: true, post: NOT_FOUND }),
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['made-up ids', 'POST /users/1/notes: 404'],
    },
  },
  {
    name: 'the only POST redirects twice',
    versions: [2],
    seen: withPost({
      post: answer(307, '', {}, { refusedRedirect: { to: '/b', why: 'a second redirect' } }),
    }),
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['307'] },
  },
  {
    name: 'the challenge has no bazaar extension',
    versions: [2],
    seen: withBazaar(null),
    expect: {
      status: 'fail',
      outcome: 'absent',
      evidence: ['POST /summaries /extensions/bazaar is missing'],
    },
  },
  {
    name: 'the declaration is nested twice',
    versions: [2],
    seen: withBazaar({ bazaar: bazaarExtension() }),
    expect: {
      status: 'fail',
      outcome: 'bad-input',
      evidence: ['/extensions/bazaar/bazaar: the declaration is nested twice'],
    },
  },
  {
    name: 'the declaration stands in the offer',
    versions: [2],
    seen: withPost({
      post: challenge402(
        challengeV2({
          extensions: undefined,
          accepts: [offer({ extensions: { bazaar: bazaarExtension() } })],
        }),
      ),
    }),
    expect: {
      status: 'fail',
      outcome: 'absent',
      evidence: ['is missing, and /accepts/0/extensions/bazaar is read by nobody'],
    },
  },
  {
    name: 'one of two challenges has no bazaar extension',
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
    name: 'the bazaar extension is text',
    versions: [2],
    seen: withBazaar('yes'),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/type: missing'] },
  },
  {
    name: 'the input of an MCP tool has no toolName',
    versions: [2],
    seen: withInput({ type: 'mcp' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/toolName: missing'] },
  },
  {
    name: 'the input of an MCP tool is complete, and no output is declared',
    versions: [2],
    seen: withTool({}),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the inputSchema of an MCP tool is text',
    versions: [2],
    seen: withTool({ inputSchema: 'any' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/inputSchema: "any"'] },
  },
  {
    name: 'the transport of an MCP tool is unknown',
    versions: [2],
    seen: withTool({ transport: 'carrier pigeon' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/transport'] },
  },
  {
    name: 'the example of an MCP tool is text',
    versions: [2],
    seen: withTool({ example: 'AAPL' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/example: "AAPL"'] },
  },
  {
    name: 'an MCP tool declares its output without an example',
    versions: [2],
    seen: withTool({}, { output: { type: 'json' } }),
    expect: { status: 'warn', outcome: 'no-output-example' },
  },
  {
    name: 'the input has the method GET',
    versions: [2],
    seen: withInput({ method: 'GET' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/method: "GET"'] },
  },
  {
    name: 'the body type is unknown',
    versions: [2],
    seen: withInput({ bodyType: 'xml' }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/bodyType: "xml"'] },
  },
  {
    name: 'the input has no body, as from the AgentCash router',
    versions: [2],
    seen: withInput({ body: undefined }),
    expect: { status: 'fail', outcome: 'bad-input', evidence: ['/info/input/body: missing'] },
  },
  {
    name: 'the schema is null',
    versions: [2],
    seen: withSchema(null),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['is not a schema: null'] },
  },
  {
    name: 'the schema has an older draft',
    versions: [2],
    seen: withSchema({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['draft-07'] },
  },
  {
    name: 'the schema has an unknown type',
    versions: [2],
    seen: withSchema({ $schema: DRAFT, type: 'thing' }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['/type', '"thing"'] },
  },
  {
    name: 'the schema has a reference to another document',
    versions: [2],
    seen: withSchema({ $schema: DRAFT, $ref: 'https://other.example/schema.json' }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['$ref'] },
  },
  {
    name: 'the schema describes the body, not info',
    versions: [2],
    seen: withSchema({ $schema: DRAFT, type: 'object', properties: { text: { type: 'string' } } }),
    expect: {
      status: 'fail',
      outcome: 'bad-schema',
      evidence: ['POST /summaries', '/schema/properties/input: missing', 'info, not the body'],
    },
  },
  {
    name: 'the schema describes the body, and info does not fit it either',
    versions: [2],
    seen: withSchema({ type: 'object', required: ['text'] }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['/schema/properties/input'] },
  },
  {
    name: 'the schema is an empty object',
    versions: [2],
    seen: withSchema({}),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['/schema/properties/input'] },
  },
  {
    name: 'the schema is true',
    versions: [2],
    seen: withSchema(true),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['/schema: true'] },
  },
  {
    name: 'the schema only requires the input, as it requires any name',
    versions: [2],
    seen: withSchema({ $schema: DRAFT, type: 'object', required: ['input'] }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['/schema/properties/input'] },
  },
  {
    name: 'a local reference leads to a schema that does not define the input',
    versions: [2],
    seen: withSchema({ $ref: '#/$defs/body', $defs: { body: { properties: { text: {} } } } }),
    expect: { status: 'fail', outcome: 'bad-schema', evidence: ['/schema/properties/input'] },
  },
  {
    name: 'a local reference leads to the schema that defines the input',
    versions: [2],
    seen: withSchema({ $ref: '#/$defs/info', $defs: { info: { properties: { input: {} } } } }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the schema defines the input and does not require it',
    versions: [2],
    seen: withSchema({ $schema: DRAFT, properties: { input: { type: 'object' } } }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the body is empty, and the schema requires a member',
    versions: [2],
    seen: withInput({ body: {} }),
    expect: {
      status: 'fail',
      outcome: 'example-invalid',
      evidence: ['/info does not fit its schema'],
    },
  },
  {
    name: 'only the body has the extension, and its example does not fit',
    versions: [2],
    seen: withPost({
      post: challenge402(postChallenge(null), {
        body: postChallenge(
          bazaarExtension({ info: { input: { ...INPUT, body: {} }, output: OUTPUT } }),
        ),
      }),
    }),
    expect: {
      status: 'fail',
      outcome: 'example-invalid',
      evidence: ['in its body: /extensions/bazaar/info does not fit'],
    },
  },
  {
    name: 'the header has a challenge, and only the body has the extension',
    versions: [2],
    seen: withPost({
      post: challenge402(postChallenge(null), { body: postChallenge() }),
    }),
    expect: { status: 'warn', outcome: 'body-only', evidence: ['not in the header'] },
  },
  {
    name: 'the challenge is only in the body',
    versions: [2],
    seen: withPost({
      post: challenge402(postChallenge(), { header: null, body: postChallenge() }),
    }),
    expect: { status: 'warn', outcome: 'body-only' },
  },
  {
    name: 'the output has no example',
    versions: [2],
    seen: withBazaar(bazaarExtension({ info: { input: INPUT } })),
    expect: { status: 'warn', outcome: 'no-output-example', evidence: ['/info/output/example'] },
  },
  {
    name: 'the schema has only local references',
    versions: [2],
    seen: withSchema({
      $schema: `${DRAFT}#`,
      $defs: { input: { type: 'object', required: ['type', 'method'] } },
      properties: { input: { $ref: '#/$defs/input' } },
      required: ['input'],
    }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'no document declares a method, and GET and POST both challenge',
    versions: [2],
    seen: {
      resources: resources([
        resource({ method: null, post: [challenge402(postChallenge()), challenge402()] }),
      ]),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'a path is declared as POST, and GET and POST both challenge',
    versions: [2],
    seen: withPost({ get: challenge402(), post: challenge402(postChallenge()) }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the only POST resource describes input and output',
    versions: [2],
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['1 of 1 POST resources'] },
  },
  {
    name: 'one POST challenges, another answers 422',
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
    name: 'the only POST answers 422',
    versions: [2],
    seen: withPost({ post: answer(422) }),
    expect: {
      status: 'warn',
      outcome: 'unseen',
      basis: 'not_determined',
      evidence: ['POST /summaries: 422'],
    },
  },
  {
    name: 'a recording has no POST to the only POST resource',
    versions: [2],
    seen: { resources: resources([resource(), unsentPost]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined' },
  },
  {
    name: 'the only POST answers 200 without payment',
    versions: [2],
    seen: withPost({ post: answer(200, { summary: 'Hi' }) }),
    expect: {
      status: 'fail',
      outcome: 'prerequisite-failed',
      basis: 'not_evaluated',
      evidence: ['see P2', 'POST /summaries: 200'],
    },
  },
  {
    name: 'the challenge of a tool has no bazaar extension',
    versions: [2],
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['/mcp#forecast'] },
  },
  {
    name: 'the only POST answers 402 without a challenge',
    versions: [2],
    seen: withPost({ post: answer(402, {}, { 'payment-required': encodeChallenge('pay') }) }),
    expect: { status: 'fail', outcome: 'prerequisite-failed', basis: 'not_evaluated' },
  },
];

const cases = [...casesOfBothVersions, ...casesWithoutPost, ...casesWithPost];

export default cases;
