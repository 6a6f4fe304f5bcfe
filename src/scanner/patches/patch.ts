import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type PatchRoute, type PatchValues, PLACEHOLDERS } from './patch-values.ts';
import {
  hasParameters,
  type RouteSyntax,
  toGuardedKeys,
  toUnknownRouteNote,
  writeRoute,
} from './route-template.ts';

export const STACKS = ['express', 'hono', 'next', 'fastapi', 'flask', 'go', 'nginx'] as const;
export type Stack = (typeof STACKS)[number];

/** Documents that every stack can serve. */
export const DOCUMENT_TOPICS = [
  'openapi',
  'manifest',
  'manifest-entries',
  'llms-txt',
  'agent-card',
  'robots',
  'root-links',
  'favicon',
] as const;
export type DocumentTopic = (typeof DOCUMENT_TOPICS)[number];

/** Changes to the code of a seller. */
const CODE_TOPICS = [
  'paid-route',
  'public-url',
  'head-guard',
  'no-store',
  'one-price',
  'one-recipient',
  'bazaar',
  'token-domain',
  'limiter',
  'own-server',
  'base-url',
  'tls',
] as const;
export type CodeTopic = (typeof CODE_TOPICS)[number];
export type Topic = DocumentTopic | CodeTopic;

export type PatchPart = {
  /** Path in the seller's project: "server.ts", "app/weather/route.ts". */
  readonly file: string;
  readonly code: string;
  /** True if `file` has an earlier part, to which this one is added. */
  readonly isAddition?: boolean;
};

/** The code; or one line that says why this stack cannot fix the finding, and how the seller can fix it. */
export type Patch = { readonly parts: readonly PatchPart[] } | { readonly whyNot: string };

export type ServedDocument = {
  /** Begins the names of the code that serves the document: "openapi". */
  readonly name: string;
  /** "/openapi.json" */
  readonly path: string;
  readonly contentType: string;
  /** A text, or an object to serve as JSON. */
  readonly body: string | JsonDocument;
};

/** JSON without null. */
export type JsonDocument = { readonly [key: string]: JsonPart };
export type JsonPart = string | number | boolean | JsonDocument | readonly JsonPart[];

/** The patches of one stack: one for each code topic, and `serve`, which writes the code that serves a document. */
export type StackPatches = Readonly<Record<CodeTopic, (values: PatchValues) => Patch>> & {
  readonly serve: (document: ServedDocument, values: PatchValues) => Patch;
};

/** Extras of the code that guards paid routes. */
export type PaidExtras = {
  /** True if a proxy in front of the stack ends TLS. */
  readonly isBehindProxy?: boolean;
  /** True if the code declares the bazaar extension. */
  readonly hasBazaar?: boolean;
  /** True if the code names the token of each price with its EIP-712 domain. */
  readonly hasDomain?: boolean;
};

/** A route that the middleware must guard. */
export type SoldRoute = PatchRoute & {
  /** Name of the route's configuration in the code. */
  readonly name: string;
  /** The URL that buyers use; null if the SDK writes it: a path with parameters, a seller that was scanned locally. */
  readonly resource: string | null;
};

/** Decides what the code states of a route, and what it leaves to the SDK. */
export function toSoldRoute(
  name: string,
  route: PatchRoute,
  { origin }: PatchValues,
  { isBehindProxy = false, hasDomain = false }: PaidExtras,
): SoldRoute {
  const { template, token } = route;
  // Behind a proxy the SDK cannot know the public address, so the code states it, or a placeholder.
  const isWrittenBySdk =
    template === null ||
    hasParameters(template) ||
    (origin === PLACEHOLDERS.origin && !isBehindProxy);
  return {
    ...route,
    name,
    resource: isWrittenBySdk ? null : origin + writeRoute(template, 'openapi'),
    // For a price in dollars the SDKs take the default token themselves.
    token: token?.isDefault && !hasDomain ? null : token,
  };
}

export function listSoldRoutes(values: PatchValues, extras: PaidExtras): readonly SoldRoute[] {
  const guardedRoutes = [...values.routes, ...values.signIns];
  return guardedRoutes.map((route, index) =>
    toSoldRoute(guardedRoutes.length === 1 ? 'sold' : `sold${index + 1}`, route, values, extras),
  );
}

/** Entries of the middlewares for Python and Go. `place` says where the router writes the path in its own form. */
export function writeBracketEntries(
  route: SoldRoute,
  syntax: RouteSyntax,
  comment: '#' | '//',
  place: string,
): readonly string[] {
  const { name, template } = route;
  if (template === null) {
    return [
      `${comment} ${toUnknownRouteNote(route)}`,
      `${comment} In ROUTE, write a parameter as "[id]".`,
      `ROUTE: ${name},`,
    ];
  }
  const path = writeRoute(template, 'brackets');
  const routerPath = writeRoute(template, syntax);
  return [
    ...(routerPath === path ? [] : [`${comment} ${routerPath} ${place}`]),
    // Strings of JSON are strings of Python and Go.
    ...toGuardedKeys(route, path).map((key) => `${JSON.stringify(key)}: ${name},`),
  ];
}

/**
 * Takes GET for an unknown method, because only a guard of GET lets HEAD through. A key without a method would guard
 * POST too.
 */
function guardByGet(values: PatchValues): PatchValues {
  const withVerb = (route: PatchRoute) => ({ ...route, method: route.method ?? ('GET' as const) });
  const [first, ...others] = values.routes;
  return { ...values, routes: [withVerb(first), ...others.map(withVerb)] };
}

/** Makes the patches of the topics that use the code of paid routes. */
export function toPaidTopics(writePaidRoutes: (values: PatchValues, extras: PaidExtras) => Patch) {
  return {
    'paid-route': (values: PatchValues) => writePaidRoutes(values, {}),
    'public-url': (values: PatchValues) => writePaidRoutes(values, { isBehindProxy: true }),
    'head-guard': (values: PatchValues) => writePaidRoutes(guardByGet(values), {}),
    'token-domain': (values: PatchValues) => writePaidRoutes(values, { hasDomain: true }),
    bazaar: (values: PatchValues) => writePaidRoutes(values, { hasBazaar: true }),
  };
}

/** The file of a part, as the heading of its code. */
export function namePart({ file, isAddition }: PatchPart): string {
  return isAddition ? `${file}, continued` : file;
}

export function toPart(file: string, lines: readonly string[]): PatchPart {
  return { file, code: `${lines.join('\n')}\n` };
}

export function toPatch(file: string, lines: readonly string[]): Patch {
  return { parts: [toPart(file, lines)] };
}

const CODE_FOLDER = new URL('./code/', import.meta.url);
type CodeFolder = Stack | 'javascript' | 'python';

export function readCode(folder: CodeFolder, source: string): string {
  return readFileSync(new URL(`${folder}/${source}.txt`, CODE_FOLDER), 'utf8');
}

/**
 * Reads the code of a patch from `code/<folder>/`, from the file `source` plus ".txt". In it, "{{name}}" stands for the
 * member `name` of `literals`, which are code: values of an origin are escaped by `literals.ts` before. Throws TypeError
 * if that member is missing, because a seller would get the mark as code.
 */
export function readPatch(
  folder: CodeFolder,
  file: string,
  literals: Readonly<Record<string, string>> = {},
  source = posix.basename(file),
): Patch {
  const code = readCode(folder, source).replace(/\{\{(\w+)\}\}/g, (mark, name: string) => {
    const literal = literals[name];
    if (literal === undefined) throw new TypeError(`${folder}/${source}.txt: no value for ${mark}`);
    return literal;
  });
  return { parts: [{ file, code }] };
}

export function cannotFix(whyNot: string): Patch {
  return { whyNot };
}
