/** A declared path, and its form in each router. */

export type RoutePiece =
  | { readonly kind: 'text'; readonly text: string }
  /** `isRest`: the parameter matches all further segments. */
  | { readonly kind: 'parameter'; readonly name: string; readonly isRest: boolean };

export type RouteTemplate = readonly RoutePiece[];

/** Parameters of OpenAPI ("{id}") and of routers (":id", "[id]", "[...id]", "[[...id]]", "*", and REST_PATTERN). */
const PARAMETER_PATTERN =
  /\{([^{}/]*)\}|\[{1,2}(\.\.\.)?([^[\]/]*)\]{1,2}|(?<=\/):([A-Za-z_]\w*)|\*/g;
/** Text in braces for all further segments: "id:path", "path:id", "id...", "id*", "*id", "id+", "+id". */
const REST_PATTERN = /(?::path|\.\.\.|\*|\+)$|^(?:\+|\*|path:)/;
/** Characters without a special meaning in any router, middleware or configuration. */
const PLAIN_TEXT = /^[A-Za-z0-9._~@/-]*$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/** Returns null for a path that routers could read in different ways. */
export function parseRouteTemplate(path: string): RouteTemplate | null {
  const pieces: RoutePiece[] = [];
  let offset = 0;
  for (const match of path.matchAll(PARAMETER_PATTERN)) {
    const [parameter, nameInBraces, dots, nameInBrackets, nameAfterColon] = match;
    const name = nameInBraces ?? nameInBrackets ?? nameAfterColon ?? '';
    const isRest = parameter === '*' || dots !== undefined || REST_PATTERN.test(nameInBraces ?? '');
    pieces.push({ kind: 'text', text: path.slice(offset, match.index) });
    pieces.push({ kind: 'parameter', name: toIdentifier(name, pieces.length), isRest });
    offset = match.index + parameter.length;
  }
  pieces.push({ kind: 'text', text: removeLastSlash(path.slice(offset), path) });
  const isPlain = pieces.every(
    (piece) => piece.kind === 'parameter' || PLAIN_TEXT.test(piece.text),
  );
  if (!path.startsWith('/') || !isPlain || DOT_SEGMENT.test(path) || path.includes('//'))
    return null;
  return pieces.filter((piece) => piece.kind === 'parameter' || piece.text !== '');
}

/** Middlewares remove the last slash of a request before they match it. */
function removeLastSlash(text: string, path: string): string {
  return path === '/' ? text : text.replace(/\/$/, '');
}

/** Returns a valid identifier of every language, because middlewares would end ":city-id" at the hyphen. */
function toIdentifier(name: string, index: number): string {
  const cleaned = name
    .replace(/^path:|^[+*]|(?::\w+|\.\.\.|[*+])$/g, '')
    .replace(/\W+/g, '_')
    .slice(0, 40);
  return /^[A-Za-z]/.test(cleaned) ? cleaned : `p${index}${cleaned}`;
}

export function hasParameters(template: RouteTemplate): boolean {
  return template.some(({ kind }) => kind === 'parameter');
}

export function listParameterNames(template: RouteTemplate): readonly string[] {
  return template.flatMap((piece) => (piece.kind === 'parameter' ? [piece.name] : []));
}

type Writer = (name: string, isRest: boolean) => string;

const PARAMETER_WRITERS = {
  /** OpenAPI documents. */
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
  /** Routes of the official middlewares for Python and Go. Some of their versions do not support colons. */
  brackets: (name, isRest) => (isRest ? '*' : `[${name}]`),
} satisfies Readonly<Record<string, Writer>>;

export type RouteSyntax = keyof typeof PARAMETER_WRITERS;

export function writeRoute(template: RouteTemplate, syntax: RouteSyntax): string {
  const write: Writer = PARAMETER_WRITERS[syntax];
  return template
    .map((piece) => (piece.kind === 'text' ? piece.text : write(piece.name, piece.isRest)))
    .join('');
}

/** A regular expression that nginx, Go and Python all accept. */
export function toRoutePattern(template: RouteTemplate): string {
  const pieces = template.map((piece) => {
    if (piece.kind === 'text') return piece.text.replaceAll('.', '\\.');
    return piece.isRest ? '.*' : '[^/]+';
  });
  return `^${pieces.join('')}/?$`;
}

/** The keys of a route in a middleware. Routers run the GET handler for HEAD too, so GET and HEAD each need a key. */
export function toGuardedKeys(
  { method }: { readonly method: string | null },
  path: string,
): readonly string[] {
  if (method === null) return [path];
  const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
  return methods.map((name) => `${name} ${path}`);
}

/** The patch leaves ROUTE undefined. With an invented path it would run, and leave the real route unguarded. */
export function toUnknownRouteNote({ example }: { readonly example: string | null }): string {
  const suffix = example === null ? '' : ` behind ${example}`;
  return `<route>${suffix}: define ROUTE as your router writes it; until then, this code does not run`;
}
