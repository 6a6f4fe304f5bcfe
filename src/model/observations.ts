/**
 * What one scan saw, and all that a check may know: plain, JSON-safe, frozen data. Bodies are text;
 * nothing here is parsed, so that a hostile document costs the host nothing.
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

/** How the catalog lets us probe; recorded, because a replay is judged by what was sent. */
export type ProbingOptions = {
  /** Whether `{}` is posted to resources that are declared paid. */
  readonly post: boolean;
  /** Whether the tools of an MCP endpoint are called, which no catalog asks for: the caller does. */
  readonly mcp?: true;
};

/** An answer at one of several paths where the same document may stand. */
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
 * A paid tool of an MCP endpoint. Its answer stands in the probes as HTTP would have carried it
 * (`tool-answer.ts`): status 402 for a result that asks for payment, PAYMENT-REQUIRED for the
 * challenge in the structured result, the body for the text beside it.
 */
export type ToolFacts = {
  readonly name: string;
  /** Path of the endpoint. */
  readonly endpoint: string;
  /** How the challenge came; null where none did. */
  readonly binding: 'tool-result' | 'extension' | null;
  /** What the result says of itself; null where there is no result. */
  readonly isError: boolean | null;
  /** Who of the two had offered the extension `org.x402/payment` when the tool was called. */
  readonly extension: 'nobody' | 'client' | 'both';
  /** Decimal dollars as tools/list states them, and the member that does; null where none does. */
  readonly price: { readonly dollars: string; readonly member: string } | null;
};

export type Probe = {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** 2 is the second probe of the same request, for the checks that compare two. */
  readonly number: 1 | 2;
  /**
   * A POST that was answered by 307 or 308 to this origin was sent once more to that place:
   * `data.redirects` then holds the one hop, and `data.url` is the place that gave this answer. One
   * that redirects again, or elsewhere, is that redirect itself, with `data.refusedRedirect`.
   * Recordings of schema 2 and older never followed a POST.
   */
  readonly answer: HttpObservation;
};

/** A resource that a document or index calls paid, or that may turn out to be, with the answers it gave. */
export type ResourceObservation = {
  readonly url: string;
  /** Path and query as requested, path and required query parameters filled in. */
  readonly path: string;
  /** The path as OpenAPI writes it ("/users/{id}"); equal to the path elsewhere. */
  readonly template: string;
  /** The declared method; null where the source names none. */
  readonly method: 'GET' | 'POST' | null;
  readonly sources: readonly ResourceSource[];
  /** Whether OpenAPI, manifest or an index calls it paid. Candidates are probed with GET only. */
  readonly declaredPaid: boolean;
  /**
   * A path or required query parameter has no declared example, default or enum, so its value in
   * `path` is made up: a 404 says nothing of the resource. Absent where every value is declared.
   */
  readonly madeUp?: true;
  readonly probes: readonly Probe[];
  /** Set where it is a tool: `path` is then the endpoint's, and the name of the tool its fragment. */
  readonly tool?: ToolFacts;
};

export type ResourceSet = {
  readonly probed: readonly ResourceObservation[];
  /** Paid resources that were found, probed or not ("6 of 41 probed"). */
  readonly declared: number;
  /** Paid operations that no probe can reach, by method: PUT, PATCH, DELETE. */
  readonly otherMethods: number;
  /** Where we looked, for "no paid resource found": "/openapi.json: 404", … */
  readonly looked: readonly string[];
  /** Other origins that the OpenAPI document sends paid operations to; absent where there is none. */
  readonly elsewhere?: readonly string[];
  /** Paid tools that are not called, because their seller does not say that they only read. */
  readonly uncalledTools?: number;
  /** Set where the plan itself could not be made within limits of time or memory. */
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
  /** Same-origin links found, checked or not. */
  readonly found: number;
  /** Links to other hosts: counted, never contacted. */
  readonly otherHosts: number;
  /** How many documents with links could be read. */
  readonly documents: number;
};

export type IconSet = {
  /** Icons that the root names on this origin, then /favicon.ico, .png, .svg, until one is an image. */
  readonly checked: readonly PathAnswer[];
  /** Icons that the root names on other hosts: never fetched. */
  readonly otherHosts: readonly string[];
  /** A data: icon is named. */
  readonly inline: boolean;
};

/** What a third party said of this origin: an index, a chain, a listing. */
export type Lookup<T> =
  /** `asOf` is when the source said it (ISO 8601); it may be a good answer of the past. */
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

/** The site that a script in a browser is said to be of: no name can ever be there (RFC 2606). */
export const BROWSER_ORIGIN = 'https://x402-scan.invalid';

/** Two requests as a browser sends them, to the first paid resource that GET reaches. */
export type BrowserAnswers = {
  readonly path: string;
  /** GET with `Origin: https://x402-scan.invalid`, as a script of another site fetches. */
  readonly fetched: HttpObservation;
  /** GET with `Accept: text/html` and a User-Agent of a browser, as a page is opened. */
  readonly opened: HttpObservation;
};

/** What a node of its chain said of an offer. */
export type OfferOnChain = {
  /** CAIP-2 */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** True where it was not asked, because the asset is known. */
  readonly hasCode: boolean;
  /** Whether DOMAIN_SEPARATOR() is that of the offer, and what eip712Domain() names; null where it does not say. */
  readonly domain: {
    readonly agrees: boolean;
    readonly named: { readonly name: string; readonly version: string } | null;
  } | null;
  /** Null where the node cannot tell. */
  readonly transferReverts: boolean | null;
  /** Solana; null elsewhere. */
  readonly noTokenAccount: boolean | null;
};

/** What an index asks for a resource, by one set of names; null where it does not say. */
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
};

/** What the Bazaar lists under the origin's recipients. */
export type BazaarListings = {
  readonly resources: readonly ListedResource[];
  /** Every item was seen: what is not among the resources is not listed. */
  readonly isComplete: boolean;
};

export type IndexedResource = {
  readonly resource: string;
  readonly method: string | null;
  /** ISO 8601, or null where the index does not say. */
  readonly lastUpdated: string | null;
  /** How many payment options the index shows; 0 is not displayable. */
  readonly accepts: number;
  readonly deprecated: boolean;
  /** Absent in recordings that are older than it. */
  readonly terms?: ListedTerms;
};

export type IndexedOrigin = {
  readonly resources: readonly IndexedResource[];
  readonly ownershipVerified: boolean | null;
  /** Resources of the same host under another scheme or port, and of its parents and children. */
  readonly elsewhere?: readonly string[];
};

export type SettlementFacts = {
  /** The payTo address that was looked up; null where the source answers by origin. */
  readonly address: string | null;
  readonly windowDays: number;
  readonly settlements: number;
  readonly payers: number;
  /** ISO 8601 of the newest one, null where none was seen. */
  readonly lastAt: string | null;
};

export type ListingFacts = {
  readonly listed: boolean;
  readonly name: string | null;
  readonly website: string | null;
};

/** Every observation, by the name that a check lists in `needs`. */
export type Observations = {
  readonly origin: OriginFacts;
  readonly probing: ProbingOptions;
  readonly root: HttpObservation;
  /** The answer to one random path: what this site says where nothing is. */
  readonly soft404: HttpObservation;
  readonly openapi: HttpObservation;
  /** /.well-known/openapi.json, /api/openapi.json, /swagger.json, /openapi.yaml, in this order. */
  readonly openapiAlternates: readonly PathAnswer[];
  readonly manifest: HttpObservation;
  /** /.well-known/x402.json */
  readonly manifestJson: HttpObservation;
  readonly llmsTxt: HttpObservation;
  readonly agentCard: HttpObservation;
  /** /.well-known/agent.json, the name of old. */
  readonly agentJson: HttpObservation;
  readonly robots: HttpObservation;
  readonly resources: ResourceSet;
  readonly links: LinkSet;
  readonly icons: IconSet;
  /** What the official clients say of the challenges; null in recordings that are older than it. */
  readonly payability: Payability | null;
  readonly x402scan: Lookup<IndexedOrigin>;
  readonly settlements: Lookup<SettlementFacts>;
  readonly listing: Lookup<ListingFacts>;
  /** Absent in recordings that are older than it, and where GET reaches nothing that is paid. */
  readonly browser?: BrowserAnswers;
  /** Absent in recordings that are older than it, and where no node is set that knows an offer's chain. */
  readonly chain?: readonly OfferOnChain[];
  /** Absent in recordings that are older than it, and where no paid resource was found. */
  readonly bazaar?: Lookup<BazaarListings>;
};

export type ObservationName = keyof Observations;

/** The names that belong to third parties: an outage there is no fault of the origin. */
export const STANDING_OBSERVATIONS = [
  'x402scan',
  'settlements',
  'listing',
  'bazaar',
  'chain',
] as const satisfies readonly ObservationName[];
