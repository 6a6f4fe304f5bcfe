/** The shape of recorded observations on disk, so that a foreign file is refused by name and place. */

import { type TSchema, Type } from 'typebox';
import { OFFER_VERDICTS, PAYABLE_BY } from '../model/payability.ts';
import { OLDEST_SCHEMA_VERSION, RECORDING_FORMAT, RECORDING_SCHEMA_VERSION } from './recording.ts';

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const method = Type.Union([Type.Literal('GET'), Type.Literal('HEAD'), Type.Literal('POST')]);
const headers = Type.Array(Type.Tuple([text, text]));
const strings = Type.Array(text);

const httpData = Type.Object({
  url: text,
  method,
  status: Type.Integer({ minimum: 100, maximum: 999 }),
  headers,
  body: text,
  firstByteMs: Type.Number({ minimum: 0 }),
  redirects: Type.Array(Type.Object({ url: text, status: count, location: text })),
  refusedRedirect: Type.Optional(Type.Object({ to: text, why: text })),
  binary: Type.Optional(Type.Literal(true)),
  bodyFailure: Type.Optional(text),
});

const answer = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    data: httpData,
    ms: Type.Number({ minimum: 0 }),
    truncated: Type.Boolean(),
  }),
  Type.Object({
    ok: Type.Literal(false),
    reason: text,
    detail: text,
    ms: Type.Number({ minimum: 0 }),
  }),
]);

const pathAnswers = Type.Array(Type.Object({ path: text, answer }));

const nullable = (type: TSchema) => Type.Union([type, Type.Null()]);

const tool = Type.Object({
  name: text,
  endpoint: text,
  binding: nullable(Type.Union([Type.Literal('tool-result'), Type.Literal('extension')])),
  isError: nullable(Type.Boolean()),
  extension: Type.Union([Type.Literal('nobody'), Type.Literal('client'), Type.Literal('both')]),
  price: nullable(Type.Object({ dollars: text, member: text })),
});

const resources = Type.Object({
  probed: Type.Array(
    Type.Object({
      url: text,
      path: text,
      template: text,
      method: Type.Union([Type.Literal('GET'), Type.Literal('POST'), Type.Null()]),
      sources: strings,
      declaredPaid: Type.Boolean(),
      madeUp: Type.Optional(Type.Literal(true)),
      probes: Type.Array(
        Type.Object({ method, number: Type.Union([Type.Literal(1), Type.Literal(2)]), answer }),
      ),
      tool: Type.Optional(tool),
    }),
  ),
  declared: count,
  otherMethods: count,
  looked: strings,
  elsewhere: Type.Optional(strings),
  uncalledTools: Type.Optional(count),
  planFailure: Type.Optional(text),
});

const links = Type.Object({
  checked: Type.Array(
    Type.Object({ url: text, from: text, method, server: Type.Boolean(), answer }),
  ),
  found: count,
  otherHosts: count,
  documents: count,
});

const look = (data: ReturnType<typeof Type.Object>) =>
  Type.Union([
    Type.Object({ state: Type.Literal('seen'), source: text, asOf: text, ageSec: count, data }),
    Type.Object({
      state: Type.Literal('off'),
      why: Type.Union([Type.Literal('offline'), Type.Literal('switched-off')]),
    }),
    Type.Object({ state: Type.Literal('failed'), source: text, detail: text }),
  ]);

const payability = Type.Object({
  clients: Type.Array(Type.Object({ name: text, version: text })),
  silent: Type.Array(Type.Object({ method: text, path: text })),
  resources: Type.Array(
    Type.Object({
      method: text,
      path: text,
      payableBy: Type.Union(PAYABLE_BY.map((one) => Type.Literal(one))),
      words: nullable(text),
      offers: Type.Array(
        Type.Object({
          pointer: text,
          scheme: nullable(text),
          network: nullable(text),
          asset: nullable(text),
          amount: nullable(text),
          client: nullable(text),
          verdict: Type.Union(OFFER_VERDICTS.map((one) => Type.Literal(one))),
          words: nullable(text),
        }),
      ),
    }),
  ),
});

const terms = Type.Object({
  x402Version: nullable(Type.Number()),
  description: nullable(text),
  inputSchema: nullable(text),
  offers: Type.Array(
    Type.Object({
      price: nullable(text),
      payTo: nullable(text),
      network: nullable(text),
      asset: nullable(text),
      scheme: nullable(text),
    }),
  ),
});

const observations = Type.Object({
  origin: Type.Object({
    url: text,
    scheme: Type.Union([Type.Literal('https'), Type.Literal('http')]),
    hostname: text,
    port: count,
    host: text,
  }),
  probing: Type.Object({ post: Type.Boolean(), mcp: Type.Optional(Type.Literal(true)) }),
  root: answer,
  soft404: answer,
  openapi: answer,
  openapiAlternates: pathAnswers,
  manifest: answer,
  manifestJson: answer,
  llmsTxt: answer,
  agentCard: answer,
  agentJson: answer,
  robots: answer,
  resources,
  links,
  icons: Type.Object({ checked: pathAnswers, otherHosts: strings, inline: Type.Boolean() }),
  payability: Type.Optional(nullable(payability)),
  x402scan: look(
    Type.Object({
      resources: Type.Array(
        Type.Object({
          resource: text,
          method: nullable(text),
          lastUpdated: nullable(text),
          accepts: count,
          deprecated: Type.Boolean(),
          terms: Type.Optional(terms),
        }),
      ),
      ownershipVerified: nullable(Type.Boolean()),
      elsewhere: Type.Optional(strings),
    }),
  ),
  settlements: look(
    Type.Object({
      address: nullable(text),
      windowDays: Type.Number({ minimum: 0 }),
      settlements: count,
      payers: count,
      lastAt: nullable(text),
    }),
  ),
  listing: look(
    Type.Object({ listed: Type.Boolean(), name: nullable(text), website: nullable(text) }),
  ),
  browser: Type.Optional(Type.Object({ path: text, fetched: answer, opened: answer })),
  chain: Type.Optional(
    Type.Array(
      Type.Object({
        network: text,
        asset: text,
        payTo: text,
        hasCode: Type.Boolean(),
        domain: nullable(
          Type.Object({
            agrees: Type.Boolean(),
            named: nullable(Type.Object({ name: text, version: text })),
          }),
        ),
        transferReverts: nullable(Type.Boolean()),
        noTokenAccount: nullable(Type.Boolean()),
      }),
    ),
  ),
  bazaar: Type.Optional(
    look(
      Type.Object({
        resources: Type.Array(Type.Object({ resource: text, method: nullable(text), terms })),
        isComplete: Type.Boolean(),
      }),
    ),
  ),
});

export const recordingSchema = Type.Object({
  format: Type.Literal(RECORDING_FORMAT),
  schemaVersion: Type.Union([
    Type.Literal(OLDEST_SCHEMA_VERSION),
    Type.Literal(RECORDING_SCHEMA_VERSION),
  ]),
  /** ISO 8601, UTC: the only "now" of a replay. */
  scannedAt: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?Z$' }),
  exhausted: Type.Optional(
    Type.Array(Type.Union([Type.Literal('origin'), Type.Literal('standing')]), { minItems: 1 }),
  ),
  observations,
});
