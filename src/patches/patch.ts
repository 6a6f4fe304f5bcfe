/** A fix as code: the files that a seller on one stack adds or changes. */
import type { PatchValues } from './patch-values.ts';

export const STACKS = ['express', 'hono', 'next', 'fastapi', 'flask', 'go', 'nginx'] as const;
export type Stack = (typeof STACKS)[number];

/** Documents that any stack serves in its own way. */
export const DOCUMENT_TOPICS = [
  'openapi',
  'manifest',
  'llms-txt',
  'agent-card',
  'robots',
  'root-links',
  'favicon',
] as const;
export type DocumentTopic = (typeof DOCUMENT_TOPICS)[number];

const CODE_TOPICS = [
  'paid-route',
  'public-url',
  'head-guard',
  'no-store',
  'one-price',
  'one-recipient',
  'bazaar',
  'base-url',
  'tls',
] as const;
export type CodeTopic = (typeof CODE_TOPICS)[number];
export type Topic = DocumentTopic | CodeTopic;

export type Language = 'ts' | 'python' | 'go' | 'nginx' | 'json' | 'text' | 'html' | 'svg' | 'sh';

export type PatchPart = {
  /** Where it belongs: "server.ts", "app/weather/route.ts". */
  readonly file: string;
  readonly language: Language;
  readonly code: string;
};

/** The code, or one line that says why this stack cannot mend it and where it is mended. */
export type Patch = { readonly parts: readonly PatchPart[] } | { readonly whyNot: string };

export type ServedDocument = {
  /** "/openapi.json" */
  readonly path: string;
  readonly contentType: string;
  readonly language: Language;
  /** JSON where it is no text. */
  readonly body: string | JsonDocument;
};

/** JSON without null. */
export type JsonDocument = { readonly [key: string]: JsonPart };
export type JsonPart = string | number | boolean | JsonDocument | readonly JsonPart[];

/** What one stack does for each topic that is code, and how it serves a document. */
export type StackPatches = Readonly<Record<CodeTopic, (values: PatchValues) => Patch>> & {
  readonly serve: (document: ServedDocument, values: PatchValues) => readonly PatchPart[];
};

/** A patch of one part. */
export function part(file: string, language: Language, lines: readonly string[]): Patch {
  return { parts: [{ file, language, code: `${lines.join('\n')}\n` }] };
}

export function whyNot(line: string): Patch {
  return { whyNot: line };
}
