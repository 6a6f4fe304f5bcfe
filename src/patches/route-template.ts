/** A declared path, and its form in each router. */

export type RoutePiece =
  | { readonly kind: 'text'; readonly text: string }
  /** `isRest`: the parameter matches all further segments. */
  | { readonly kind: 'parameter'; readonly name: string; readonly isRest: boolean };

export type RouteTemplate = readonly RoutePiece[];

/** OpenAPI's "{id}", and what routers write: "{id:path}", "{id...}", ":id", "[id]", "[...id]", "*". */
const PARAMETER = /\{([^{}/]*)\}|\[{1,2}(\.\.\.)?([^[\]/]*)\]{1,2}|(?<=\/):([A-Za-z_]\w*)|\*/g;
const REST = /(?::path|\.\.\.|\*|\+)$|^(?:\+|\*|path:)/;
/** Characters that have no meaning in any router, middleware or configuration. */
const PLAIN = /^[A-Za-z0-9._~@/-]*$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/** Null for a path that a router could read differently. */
export function parseRouteTemplate(path: string): RouteTemplate | null {
  const pieces: RoutePiece[] = [];
  let at = 0;
  for (const match of path.matchAll(PARAMETER)) {
    const [written, braced, dots, bracketed, colon] = match;
    const name = braced ?? bracketed ?? colon ?? '';
    const isRest = written === '*' || dots !== undefined || REST.test(braced ?? '');
    pieces.push({ kind: 'text', text: path.slice(at, match.index) });
    pieces.push({ kind: 'parameter', name: identifier(name, pieces.length), isRest });
    at = match.index + written.length;
  }
  pieces.push({ kind: 'text', text: withoutLastSlash(path.slice(at), path) });
  const isPlain = pieces.every((piece) => piece.kind === 'parameter' || PLAIN.test(piece.text));
  if (!path.startsWith('/') || !isPlain || DOT_SEGMENT.test(path) || path.includes('//'))
    return null;
  return pieces.filter((piece) => piece.kind === 'parameter' || piece.text !== '');
}

/** Middlewares remove the last slash of a request before they match it. */
function withoutLastSlash(text: string, path: string): string {
  return path === '/' ? text : text.replace(/\/$/, '');
}

/** A valid identifier in every language; middlewares end ":city-id" at the hyphen. */
function identifier(name: string, index: number): string {
  const cleaned = name
    .replace(/^path:|^[+*]|(?::\w+|\.\.\.|[*+])$/g, '')
    .replace(/\W+/g, '_')
    .slice(0, 40);
  return /^[A-Za-z]/.test(cleaned) ? cleaned : `p${index}${cleaned}`;
}

export function hasParameters(template: RouteTemplate): boolean {
  return template.some(({ kind }) => kind === 'parameter');
}

export function parameterNames(template: RouteTemplate): readonly string[] {
  return template.flatMap((piece) => (piece.kind === 'parameter' ? [piece.name] : []));
}

type Writer = (name: string, isRest: boolean) => string;

const SYNTAX = {
  /** OpenAPI and FastAPI's documents. */
  openapi: (name) => `{${name}}`,
  express: (name, isRest) => (isRest ? `*${name}` : `:${name}`),
  hono: (name, isRest) => (isRest ? '*' : `:${name}`),
  /** Folders of the app router. */
  folder: (name, isRest) => (isRest ? `[...${name}]` : `[${name}]`),
  /** `source` of Next's configuration. */
  source: (name, isRest) => (isRest ? `:${name}*` : `:${name}`),
  fastapi: (name, isRest) => (isRest ? `{${name}:path}` : `{${name}}`),
  flask: (name, isRest) => (isRest ? `<path:${name}>` : `<${name}>`),
  go: (name, isRest) => (isRest ? `{${name}...}` : `{${name}}`),
  /** Routes of the official middlewares for Express and Hono. */
  middleware: (name, isRest) => (isRest ? '*' : `:${name}`),
  /** Routes of those for Python and Go; some of their versions do not support colons. */
  brackets: (name, isRest) => (isRest ? '*' : `[${name}]`),
} satisfies Readonly<Record<string, Writer>>;

export type RouteSyntax = keyof typeof SYNTAX;

export function writeRoute(template: RouteTemplate, syntax: RouteSyntax): string {
  const write: Writer = SYNTAX[syntax];
  return template
    .map((piece) => (piece.kind === 'text' ? piece.text : write(piece.name, piece.isRest)))
    .join('');
}

/** A regular expression that nginx, Go and Python all accept. */
export function routePattern(template: RouteTemplate): string {
  const pieces = template.map((piece) => {
    if (piece.kind === 'text') return piece.text.replaceAll('.', '\\.');
    return piece.isRest ? '.*' : '[^/]+';
  });
  return `^${pieces.join('')}/?$`;
}
