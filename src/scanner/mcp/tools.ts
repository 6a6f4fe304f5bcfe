import { type TSchema, Type } from 'typebox';
import type { Explanation } from '../engine/catalog/catalog.ts';
import { PAYABLE_FILTERS, type PayableFilter } from '../model/payability.ts';
import { oneOf } from '../model/shapes.ts';
import { type Preflight, VERDICTS } from '../preflight/result.ts';
import {
  type ComparedReport,
  comparedReportSchema,
  findRegressions,
  listDifferences,
} from '../report/compare-reports.ts';

export const PAYMENT_META = 'x402/payment';

/** The payment and the connection of a call. */
type ToolCall = {
  /** `_meta["x402/payment"]`; undefined if the call carries no payment. */
  readonly payment: unknown;
  /** Aborts when the caller disconnects. */
  readonly disconnect: AbortSignal;
};

/** `value` is a JSON object. The server sends it as structured content, and as text with the same JSON. */
export type ToolAnswer = {
  readonly value: object;
  readonly isError?: boolean;
  readonly meta?: Readonly<Record<string, unknown>>;
};

export type DirectorySearch = {
  /** Part of a host's name. */
  readonly q?: string;
  readonly category?: string;
  readonly sort?: 'recent' | 'grade';
  readonly payable?: PayableFilter;
  readonly page?: number;
};

/** Does the work of the tools: in the command line with the engine, in the service with its store and payment gate. */
export type McpBackend = {
  scan(url: string, call: ToolCall): Promise<ToolAnswer>;
  /** Throws if no fresh report is stored. */
  report(url: string): Promise<object>;
  /** Throws if no check has this id. */
  explain(id: string): Promise<Explanation>;
  preflight(url: string, method: string, maxPrice: string | null): Promise<Preflight>;
  validate(challenge: object, url: string | null): Promise<Preflight>;
  search(query: DirectorySearch): Promise<object>;
};

type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TSchema;
  /** Requires no member, because clients validate error answers against this schema too. */
  readonly output: TSchema;
  /** True if the tool sends requests to other hosts. */
  readonly asksOthers?: boolean;
  /** True if the call may last over a minute. The server then sends progress to clients that ask for it. */
  readonly takesLong?: boolean;
  /** True if the answer quotes text of origins. The server then adds a notice. */
  readonly quotesOrigins: boolean;
  /** The server has validated `input` by the tool's schema. */
  run(backend: McpBackend, input: never, call: ToolCall): Promise<ToolAnswer>;
};

const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const url = Type.String({
  maxLength: 2_048,
  description: 'An https URL or a bare host, such as https://api.example.com.',
});
const maxPrice = Type.String({
  pattern: '^[0-9]{1,30}([.][0-9]{1,30})?$',
  description:
    'The most that you would pay, in whole units of the asset, such as "0.05". A higher price is a no-go.',
});

const notice = Type.Optional(
  Type.String({ description: 'Says whose text the answer quotes, and how to treat this text.' }),
);

const reportOutput = Type.Object({
  notice,
  origin: Type.Optional(Type.String()),
  grade: Type.Optional(Type.String({ description: 'A to F.' })),
  score: Type.Optional(Type.Integer()),
  payableBy: Type.Optional(nullableText),
  checksVersion: Type.Optional(Type.String()),
  scannedAt: Type.Optional(Type.String()),
  results: Type.Optional(Type.Array(Type.Object({ id: Type.String(), status: Type.String() }))),
});
const preflightOutput = Type.Object({
  notice,
  verdict: Type.Optional(oneOf<string>(VERDICTS)),
  reasons: Type.Optional(Type.Array(Type.Object({ code: Type.String(), evidence: Type.String() }))),
  terms: Type.Optional(Type.Unsafe<object | null>({ type: ['object', 'null'] })),
  termsDigest: Type.Optional(nullableText),
  otherWays: Type.Optional(Type.Array(Type.Unsafe<object>({ type: 'object' }))),
});

const toAnswer = (value: object): ToolAnswer => ({ value });

export const TOOLS: readonly Tool[] = [
  {
    name: 'scan_origin',
    title: 'Scan an x402 origin',
    description:
      'Runs all checks against an origin that sells over x402: grade A to F, evidence and a fix for each check, and who can pay. Takes up to 75 seconds; an answer "scan_processing" means: call again with the same url, and the running scan answers.',
    input: Type.Object({ url }),
    output: reportOutput,
    asksOthers: true,
    takesLong: true,
    quotesOrigins: true,
    run: (backend, input: { url: string }, call) => backend.scan(input.url, call),
  },
  {
    name: 'get_report',
    title: 'Read the last report of an origin',
    description: 'Returns the report of the last scan, if a fresh one exists. Scans nothing.',
    input: Type.Object({ url }),
    output: reportOutput,
    quotesOrigins: true,
    run: async (backend, input: { url: string }) => toAnswer(await backend.report(input.url)),
  },
  {
    name: 'explain_check',
    title: 'Explain a check',
    description:
      'Explains a check: why it exists, its rule, its outcomes, and how to fix its findings.',
    input: Type.Object({ id: Type.String({ maxLength: 10, description: 'Such as P6.' }) }),
    output: Type.Object({
      id: Type.Optional(Type.String()),
      title: Type.Optional(Type.String()),
      outcomes: Type.Optional(Type.Array(Type.String())),
    }),
    quotesOrigins: false,
    run: async (backend, input: { id: string }) =>
      toAnswer(await backend.explain(input.id.toUpperCase())),
  },
  {
    name: 'preflight',
    title: 'Ask before paying a URL',
    description:
      'Says whether to pay a URL: go, caution or no-go, with the reasons and the terms. Requests it once, without a payment.',
    input: Type.Object({
      url,
      method: Type.Optional(Type.String({ pattern: '^[A-Z]{3,7}$', description: 'Default GET.' })),
      maxPrice: Type.Optional(maxPrice),
    }),
    output: preflightOutput,
    asksOthers: true,
    quotesOrigins: true,
    run: async (backend, input: { url: string; method?: string; maxPrice?: string }) =>
      toAnswer(await backend.preflight(input.url, input.method ?? 'GET', input.maxPrice ?? null)),
  },
  {
    name: 'validate_challenge',
    title: 'Judge an x402 challenge',
    description:
      'Judges a given challenge by check P3, and says if the official clients would pay it. Sends no request.',
    input: Type.Object({
      challenge: Type.Unsafe<object>({
        type: 'object',
        description: 'The decoded PAYMENT-REQUIRED, or the JSON body of a 402.',
      }),
      url: Type.Optional(url),
    }),
    output: preflightOutput,
    quotesOrigins: true,
    run: async (backend, input: { challenge: object; url?: string }) =>
      toAnswer(await backend.validate(input.challenge, input.url ?? null)),
  },
  {
    name: 'diff_reports',
    title: 'Compare two reports',
    description:
      'Lists the checks that changed between two reports, and the regressions among them.',
    input: Type.Object({ before: comparedReportSchema, after: comparedReportSchema }),
    output: Type.Object({
      notice,
      differences: Type.Optional(Type.Array(Type.String())),
      regressions: Type.Optional(Type.Array(Type.String())),
    }),
    quotesOrigins: true,
    run: async (_backend, input: { before: ComparedReport; after: ComparedReport }) =>
      toAnswer({
        differences: listDifferences(input.before, input.after),
        regressions: findRegressions(input.before, input.after),
      }),
  },
  {
    name: 'search_directory',
    title: 'Search the directory of scanned origins',
    description:
      'Finds scanned origins by part of a host, by category, or by the daily census (only payable origins), newest or best first.',
    input: Type.Object({
      q: Type.Optional(Type.String({ maxLength: 253 })),
      category: Type.Optional(Type.String({ maxLength: 40 })),
      sort: Type.Optional(oneOf<string>(['recent', 'grade'])),
      payable: Type.Optional(
        oneOf<string>(
          PAYABLE_FILTERS,
          '"today": origins that are payable today. "week": origins that were payable on at least 6 in 7 checked days of a week.',
        ),
      ),
      page: Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999_999 })),
    }),
    output: Type.Object({
      notice,
      count: Type.Optional(Type.Integer()),
      projects: Type.Optional(Type.Array(Type.Unsafe<object>({ type: 'object' }))),
    }),
    quotesOrigins: true,
    run: async (backend, input: DirectorySearch) => toAnswer(await backend.search(input)),
  },
];
