/**
 * The data that checks may read of one scan: plain, JSON-safe and frozen. Bodies stay unparsed text,
 * so that the main thread never parses a hostile document.
 */
import type { HttpData, Observation } from './observation.ts';
import type { Payability } from './payability.ts';

export type HttpObservation = Observation<HttpData>;

export type OriginFacts = {
  /** "https://example.com", no trailing slash. */
  readonly url: string;
  readonly scheme: 'https' | 'http';
  readonly hostname: string;
  readonly port: number;
  readonly host: string;
};

/** Probing settings of the catalog, recorded because a replay is judged by the requests that were sent. */
export type ProbingOptions = {
  /** Post `{}` to resources that are declared paid. */
  readonly post: boolean;
  /** Call the tools of an MCP endpoint; set by the caller, never by a catalog. */
  readonly mcp?: true;
};

/** The answer at one of several possible paths of a document. */
export type PathAnswer = { readonly path: string; readonly answer: HttpObservation };

export type ResourceSource =
  | 'openapi'
  | 'manifest'
  | 'index'
  | 'root'
  | 'llms'
  | 'undeclared'
  | 'mcp';

/**
 * A paid tool of an MCP endpoint. Its probes have its answer in HTTP form (`tool-answer.ts`): status 402
 * for a result that asks for payment, PAYMENT-REQUIRED for the challenge in the structured result, the
 * body for the text beside it.
 */
export type ToolFacts = {
  readonly name: string;
  /** Path of the endpoint. */
  readonly endpoint: string;
  /** The binding that carried the challenge; null without one. */
  readonly binding: 'tool-result' | 'extension' | null;
  /** The result's `isError`; null without a result. */
  readonly isError: boolean | null;
  /** Parties that had offered the extension `org.x402/payment` when the tool was called. */
  readonly extension: 'nobody' | 'client' | 'both';
  /** Decimal dollars in tools/list and the member that states them; null when none does. */
  readonly price: { readonly dollars: string; readonly member: string } | null;
};

export type Probe = {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** 2 is the second probe of the same request, for checks that compare both. */
  readonly number: 1 | 2;
  /**
   * A POST that is redirected by 307 or 308 within this origin is sent once more: `data.redirects` then
   * holds that hop, and `data.url` its target. A second redirect, or one to another origin, is not
   * followed: the answer is that redirect, with `data.refusedRedirect`. Recordings of schema 2 and older
   * never followed a POST.
   */
  readonly answer: HttpObservation;
};

/** A resource that a document or index lists, with its answers. */
export type ResourceObservation = {
  readonly url: string;
  /** Requested path and query, with path and required query parameters filled in. */
  readonly path: string;
  /** OpenAPI's path template ("/users/{id}"); for other sources the path itself. */
  readonly template: string;
  /** The declared method; null when the source names none. */
  readonly method: 'GET' | 'POST' | null;
  readonly sources: readonly ResourceSource[];
  /** OpenAPI, manifest or an index calls it paid. Other candidates are probed with GET only. */
  readonly declaredPaid: boolean;
  /**
   * A path or required query parameter has no declared example, default or enum, so its value in `path`
   * is made up and a 404 says nothing of the resource. Absent when every value is declared.
   */
  readonly madeUp?: true;
  readonly probes: readonly Probe[];
  /** Set for a tool: `path` is the endpoint's, with the tool's name as its fragment. */
  readonly tool?: ToolFacts;
};

export type ResourceSet = {
  readonly probed: readonly ResourceObservation[];
  /** Number of paid resources found, probed or not ("6 of 41 probed"). */
  readonly declared: number;
  /** Number of paid operations whose method is never probed: PUT, PATCH, DELETE. */
  readonly otherMethods: number;
  /** Places that were searched, for the evidence of an empty result: "/openapi.json: 404", … */
  readonly looked: readonly string[];
  /** Other origins that serve paid operations of the OpenAPI document; absent when there is none. */
  readonly elsewhere?: readonly string[];
  /** Number of paid tools that are not called, because they are not declared read-only. */
  readonly uncalledTools?: number;
  /** Set when planning exceeded its limits of time or memory. */
  readonly planFailure?: string;
};

export type LinkObservation = {
  readonly url: string;
  /** Document that names the link first: "/llms.txt", "/openapi.json#/servers/0", … */
  readonly from: string;
  readonly method: 'GET' | 'POST' | 'HEAD';
  /** An OpenAPI server is a base address: only DNS and connection failures make it dead. */
  readonly server: boolean;
  readonly answer: HttpObservation;
};

export type LinkSet = {
  readonly checked: readonly LinkObservation[];
  /** Number of same-origin links found, checked or not. */
  readonly found: number;
  /** Number of links to other hosts, which are never contacted. */
  readonly otherHosts: number;
  /** Number of readable documents with links. */
  readonly documents: number;
};

export type IconSet = {
  /** Icons that the root names on this origin, then /favicon.ico, .png, .svg, until one is an image. */
  readonly checked: readonly PathAnswer[];
  /** Icons that the root names on other hosts; never fetched. */
  readonly otherHosts: readonly string[];
  /** The root names a `data:` icon. */
  readonly inline: boolean;
};

/** The answer of an index, a chain or a listing about this origin. */
export type Lookup<T> =
  /** `asOf` is the time of the source's answer (ISO 8601), which may be a cached one. */
  | {
      readonly state: 'seen';
      readonly source: string;
      readonly asOf: string;
      /** Seconds from `asOf` to this scan. Windows ("within 30 days") end at `asOf`, not now. */
      readonly ageSec: number;
      readonly data: T;
    }
  | { readonly state: 'off'; readonly why: 'offline' | 'switched-off' }
  | { readonly state: 'failed'; readonly source: string; readonly detail: string };

/** The `Origin` that browser probes send. RFC 2606 reserves `.invalid`, so no site can have it. */
export const BROWSER_ORIGIN = 'https://x402-scan.invalid';

/** Answers to two requests in a browser's form, to the first paid resource that GET reaches. */
export type BrowserAnswers = {
  readonly path: string;
  /** GET with `Origin: https://x402-scan.invalid`, like a fetch from another site. */
  readonly fetched: HttpObservation;
  /** GET with `Accept: text/html` and a browser's User-Agent, like a page visit. */
  readonly opened: HttpObservation;
};

/** A chain node's facts about an offer. */
export type OfferOnChain = {
  /** CAIP-2 */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** True without a request when the asset is known. */
  readonly hasCode: boolean;
  /** Compares DOMAIN_SEPARATOR() with the offer's; `named` is eip712Domain(). Null without an answer. */
  readonly domain: {
    readonly agrees: boolean;
    readonly named: { readonly name: string; readonly version: string } | null;
  } | null;
  /** Null if the node cannot tell. */
  readonly transferReverts: boolean | null;
  /** Solana; null elsewhere. */
  readonly noTokenAccount: boolean | null;
};

/** An index's terms for a resource; null members are not stated. */
export type ListedTerms = {
  readonly x402Version: number | null;
  readonly description: string | null;
  /** "sha256:…" of the canonical JSON of the declared input. */
  readonly inputSchema: string | null;
  readonly offers: readonly {
    /** In base units. */
    readonly price: string | null;
    readonly payTo: string | null;
    readonly network: string | null;
    readonly asset: string | null;
    readonly scheme: string | null;
  }[];
};

export type ListedResource = {
  readonly resource: string;
  readonly method: string | null;
  readonly terms: ListedTerms;
  /** ISO 8601, or null when the index does not say; absent in recordings that predate it. */
  readonly lastSettledAt?: string | null;
};

/** The Bazaar's entries under the origin's recipients. */
export type BazaarListings = {
  readonly resources: readonly ListedResource[];
  /** False when the list may have further items, so a missing resource proves nothing. */
  readonly isComplete: boolean;
};

export type IndexedResource = {
  readonly resource: string;
  readonly method: string | null;
  /** ISO 8601, or null when the index does not say. */
  readonly lastUpdated: string | null;
  /** Number of payment options in the index; 0 is not displayable. */
  readonly accepts: number;
  readonly deprecated: boolean;
  /** Absent in recordings that predate it. */
  readonly terms?: ListedTerms;
};

export type IndexedOrigin = {
  readonly resources: readonly IndexedResource[];
  readonly ownershipVerified: boolean | null;
  /** Resources on the same host under another scheme or port, and on its parent and child hosts. */
  readonly elsewhere?: readonly string[];
};

export type SettlementFacts = {
  /** The payTo address looked up; null when the source answers by origin. */
  readonly address: string | null;
  readonly windowDays: number;
  readonly settlements: number;
  readonly payers: number;
  /** ISO 8601 of the newest settlement, null when none was seen. */
  readonly lastAt: string | null;
};

export type ListingFacts = {
  readonly listed: boolean;
  readonly name: string | null;
  readonly website: string | null;
};

/** Keys are the names that checks list in `needs`. */
export type Observations = {
  readonly origin: OriginFacts;
  readonly probing: ProbingOptions;
  readonly root: HttpObservation;
  /** The answer to one random path: the site's page for missing paths. */
  readonly soft404: HttpObservation;
  readonly openapi: HttpObservation;
  /** /.well-known/openapi.json, /api/openapi.json, /swagger.json, /openapi.yaml, in this order. */
  readonly openapiAlternates: readonly PathAnswer[];
  readonly manifest: HttpObservation;
  /** /.well-known/x402.json */
  readonly manifestJson: HttpObservation;
  readonly llmsTxt: HttpObservation;
  readonly agentCard: HttpObservation;
  /** /.well-known/agent.json, the earlier name. */
  readonly agentJson: HttpObservation;
  readonly robots: HttpObservation;
  readonly resources: ResourceSet;
  readonly links: LinkSet;
  readonly icons: IconSet;
  /** The official clients' verdicts on the challenges; null in recordings that predate it. */
  readonly payability: Payability | null;
  readonly x402scan: Lookup<IndexedOrigin>;
  readonly settlements: Lookup<SettlementFacts>;
  readonly listing: Lookup<ListingFacts>;
  /** Absent in recordings that predate it, and when GET reaches no paid resource. */
  readonly browser?: BrowserAnswers;
  /** Absent in recordings that predate it, and when no configured node serves an offer's chain. */
  readonly chain?: readonly OfferOnChain[];
  /** Absent in recordings that predate it, and when no paid resource was found. */
  readonly bazaar?: Lookup<BazaarListings>;
};

export type ObservationName = keyof Observations;

/** Observations of third parties, whose outages are no fault of the origin. */
export const STANDING_OBSERVATIONS = [
  'x402scan',
  'settlements',
  'listing',
  'bazaar',
  'chain',
] as const satisfies readonly ObservationName[];
