/**
 * The data of one scan that checks may read: plain, JSON-safe and frozen. Bodies stay unparsed text, so that
 * the main thread never parses a hostile document. Each shape is a type and the schema that validates
 * recordings. Only files that validate import the schemas, because typebox loads slowly.
 */
import { type Static, Type } from 'typebox';
import type { HttpData, Observation } from './observation.ts';
import type { Payability } from './payability.ts';
import {
  clientVersions,
  count,
  list,
  nullable,
  oneOf,
  resourcePayability,
  shape,
  text,
} from './shapes.ts';
import {
  bazaarListings,
  indexedOrigin,
  listingFacts,
  lookup,
  offersOnChain,
  settlementFacts,
} from './third-parties.ts';

export type * from './observation.ts';
export type * from './payability.ts';
export type * from './third-parties.ts';

export type HttpObservation = Observation<HttpData>;

const method = oneOf(['GET', 'HEAD', 'POST']);
const ms = Type.Number({ minimum: 0 });
const optionalTrue = Type.Optional(Type.Literal(true));

const httpData = Type.Object({
  url: text,
  method,
  status: Type.Integer({ minimum: 100, maximum: 999 }),
  headers: Type.Array(Type.Tuple([text, text])),
  body: text,
  firstByteMs: ms,
  redirects: Type.Array(Type.Object({ url: text, status: count, location: text })),
  refusedRedirect: Type.Optional(Type.Object({ to: text, why: text })),
  binary: optionalTrue,
  bodyFailure: Type.Optional(text),
});

const answer = Type.Unsafe<HttpObservation>(
  Type.Union([
    Type.Object({ ok: Type.Literal(true), data: httpData, ms, truncated: Type.Boolean() }),
    Type.Object({ ok: Type.Literal(false), reason: text, detail: text, ms }),
  ]),
);

const originFacts = shape({
  /** "https://example.com", no trailing slash. */
  url: text,
  scheme: oneOf(['https', 'http']),
  hostname: text,
  port: count,
  host: text,
});
export type OriginFacts = Static<typeof originFacts>;

/** Probing settings of the catalog, recorded because a replay is judged by the requests that were sent. */
const probingOptions = shape({
  /** True to post `{}` to resources that are declared paid. */
  post: Type.Boolean(),
  /** Set if the tools of an MCP endpoint are called. The caller sets it, never a catalog. */
  mcp: optionalTrue,
});
export type ProbingOptions = Static<typeof probingOptions>;

/** The answer at one of several possible paths of a document. */
const pathAnswer = shape({ path: text, answer });
export type PathAnswer = Static<typeof pathAnswer>;

/** The JSON of a YAML document, or why it has none. */
const yamlReading = Type.Union([
  shape({ json: text }),
  /** `fault` is safe for evidence. `isOverLimit`: the document exceeds one of our limits. */
  shape({ fault: text, isOverLimit: Type.Boolean() }),
]);
export type YamlReading = Static<typeof yamlReading>;

/** `yaml` is set if the path ends like YAML, and was answered with 200. It is absent in older recordings. */
const openapiAnswer = shape({ path: text, answer, yaml: Type.Optional(yamlReading) });
export type OpenApiAnswer = Static<typeof openapiAnswer>;

export type ResourceSource =
  | 'openapi'
  | 'manifest'
  | 'index'
  | 'root'
  | 'llms'
  | 'undeclared'
  | 'mcp';

/**
 * A paid tool of an MCP endpoint. The probes hold the tool's answer in HTTP form (`tool-answer.ts`). A result that
 * asks for payment has status 402, the challenge of the structured result in PAYMENT-REQUIRED, and as body the
 * result's text if it is a challenge.
 */
const toolFacts = shape({
  name: text,
  /** Path of the endpoint. */
  endpoint: text,
  /** The binding that carried the challenge; null without a challenge. */
  binding: nullable(oneOf(['tool-result', 'extension'])),
  /** The result's `isError`; null without a result. */
  isError: nullable(Type.Boolean()),
  /** Parties that had offered the extension `org.x402/payment` when the tool was called. */
  extension: oneOf(['nobody', 'client', 'both']),
  /** Decimal dollars in tools/list, and the member that states them; null if no member does. */
  price: nullable(shape({ dollars: text, member: text })),
});
export type ToolFacts = Static<typeof toolFacts>;

const probe = shape({
  method,
  /** 2 is the second probe of the same request, for checks that compare the two answers. */
  number: Type.Union([Type.Literal(1), Type.Literal(2)]),
  /**
   * A POST that is redirected by 307 or 308 within this origin is sent once more. `data.redirects` then
   * holds that hop, and `data.url` its target. A second redirect, or a redirect to another origin, is not
   * followed. The answer is then that redirect, with `data.refusedRedirect`. Recordings of schema 2 and
   * older never followed a POST.
   */
  answer,
});
export type Probe = Static<typeof probe>;

/** A resource that a document or index lists, with its answers. */
const resourceObservation = shape({
  url: text,
  /** Requested path and query, with path and required query parameters filled in. */
  path: text,
  /** OpenAPI's path template ("/users/{id}"); for other sources the path itself. */
  template: text,
  /** The declared method; null when the source does not name a method. */
  method: nullable(oneOf(['GET', 'POST'])),
  sources: list(Type.Unsafe<ResourceSource>(text)),
  /** True if OpenAPI or the manifest declares it as paid. Other candidates are probed with GET only. */
  declaredPaid: Type.Boolean(),
  /** Set if the manifest lists it, or OpenAPI sells it by the protocol or the security scheme x402. */
  declaredX402: optionalTrue,
  /**
   * A path or required query parameter has no declared example, default or enum, so its value in `path`
   * is made up, and a 404 says nothing about the resource. Absent if every value is declared.
   */
  madeUp: optionalTrue,
  probes: list(probe),
  /** Set for a tool. Its `path` is the endpoint's path with the tool's name as fragment. */
  tool: Type.Optional(toolFacts),
});
export type ResourceObservation = Static<typeof resourceObservation>;

/** A request that only an index, the root or llms.txt names, by a method that would run: POST, PUT, … */
const unsentRequest = shape({
  method: text,
  template: text,
  source: Type.Unsafe<ResourceSource>(text),
});
export type UnsentRequest = Static<typeof unsentRequest>;

const resourceSet = shape({
  probed: list(resourceObservation),
  /** Answers to GET of candidates that are not paid resources: no document sells them, and they did not answer 402. */
  candidates: Type.Optional(list(pathAnswer)),
  /** Number of paid resources that were found, probed or not: 41 in "6 of 41 probed". */
  declared: count,
  /** Number of paid operations whose method is never probed: PUT, PATCH, DELETE. */
  otherMethods: count,
  /** The searched places, for the evidence of an empty result: "/openapi.json: 404", … */
  looked: list(text),
  /** Other origins that serve what OpenAPI or the manifest sells; absent if there are none. */
  elsewhere: Type.Optional(list(text)),
  /** Requests that were not sent, because no document of the seller declares them; absent if there are none. */
  unsent: Type.Optional(list(unsentRequest)),
  /** Number of paid tools that are not called, because they are not declared read-only. */
  uncalledTools: Type.Optional(count),
  /** Candidates that answered 429, or whose request was kept back: "GET /weather: 429". Absent if there are none. */
  notKnown: Type.Optional(list(text)),
  /** Documents that may declare paid paths, and that the scan could not read. Absent if there are none. */
  unread: Type.Optional(list(text)),
  /** Set when planning exceeded its limits of time or memory. */
  planFailure: Type.Optional(text),
});
export type ResourceSet = Static<typeof resourceSet>;

const linkObservation = shape({
  url: text,
  /** Document that names the link first: "/llms.txt", "/openapi.json#/servers/0", … */
  from: text,
  method,
  /** True for an OpenAPI server. It is a base address, so only DNS and connection failures make it dead. */
  server: Type.Boolean(),
  answer,
});
export type LinkObservation = Static<typeof linkObservation>;

const linkSet = shape({
  checked: list(linkObservation),
  /** Number of same-origin links found, checked or not. */
  found: count,
  /** Number of links to other hosts, which are never contacted. */
  otherHosts: count,
  /** Number of readable documents with links. */
  documents: count,
});
export type LinkSet = Static<typeof linkSet>;

const iconSet = shape({
  /** Icons that the root names on this origin, then /favicon.ico, .png, .svg, until one is an image. */
  checked: list(pathAnswer),
  /** Icons that the root names on other hosts; never fetched. */
  otherHosts: list(text),
  /** True if the root names a `data:` icon. */
  inline: Type.Boolean(),
});
export type IconSet = Static<typeof iconSet>;

/** Answers of the first paid resource that GET reaches, to two requests that look like a browser's. */
const browserAnswers = shape({
  path: text,
  /** GET with `Origin: https://x402-scan.invalid`, like a fetch from another site. */
  fetched: answer,
  /** GET with `Accept: text/html` and a browser's User-Agent, like a page visit. */
  opened: answer,
});
export type BrowserAnswers = Static<typeof browserAnswers>;

const payability = Type.Unsafe<Payability>(
  Type.Object({
    clients: clientVersions,
    silent: Type.Array(Type.Object({ method: text, path: text })),
    resources: Type.Array(resourcePayability),
  }),
);

/** Keys are the names that checks list in `needs`. */
const OBSERVATIONS = {
  origin: originFacts,
  probing: probingOptions,
  root: answer,
  /** The answer to one random path: the site's page for missing paths. */
  soft404: answer,
  openapi: answer,
  /** /.well-known/openapi.json, /api/openapi.json, /swagger.json, /openapi.yaml, /openapi.yml, in this order. */
  openapiAlternates: list(openapiAnswer),
  manifest: answer,
  /** /.well-known/x402.json */
  manifestJson: answer,
  llmsTxt: answer,
  agentCard: answer,
  /** /.well-known/agent.json, the earlier name. */
  agentJson: answer,
  robots: answer,
  resources: resourceSet,
  links: linkSet,
  icons: iconSet,
  /** The official clients' verdicts on the challenges; null in recordings that predate payability. */
  payability: nullable(payability),
  x402scan: lookup(indexedOrigin),
  settlements: lookup(settlementFacts),
  listing: lookup(listingFacts),
  /** Absent in recordings that predate this member, and when GET reaches no paid resource. */
  browser: Type.Optional(browserAnswers),
  /** Absent in recordings that predate this member, and when no configured node serves an offer's chain. */
  chain: Type.Optional(offersOnChain),
  /** Absent in recordings that predate this member, and when no paid resource was found. */
  bazaar: Type.Optional(lookup(bazaarListings)),
};
const observations = shape(OBSERVATIONS);
export type Observations = Static<typeof observations>;
export type ObservationName = keyof Observations;

/** Observations in a recording. Version 1 has no payability. */
export const recordedObservations = shape({
  ...OBSERVATIONS,
  payability: Type.Optional(OBSERVATIONS.payability),
});
