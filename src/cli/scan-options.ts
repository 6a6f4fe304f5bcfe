import {
  FAIL_ON_VALUES,
  FORMAT_NAMES,
  parseChoice,
  parseOptionalChoice,
  readFlags,
  showCall,
  UsageError,
} from './usage.ts';

export type ScanCommandOptions = ReturnType<typeof parseScanOptions>;

const MIN_PAYABLE_VALUES = ['default', 'settings'] as const;
const MIN_GRADES = ['A', 'B', 'C', 'D'] as const;

const SCAN_FLAGS = {
  'allow-private': { type: 'boolean' },
  method: { type: 'string' },
  format: { type: 'string' },
  output: { type: 'string' },
  'min-grade': { type: 'string' },
  'min-payable': { type: 'string' },
  'fail-on': { type: 'string' },
  only: { type: 'string' },
  'checks-version': { type: 'string' },
  save: { type: 'string' },
  from: { type: 'string' },
  offline: { type: 'boolean' },
  rpc: { type: 'string' },
  'solana-rpc': { type: 'string' },
  mcp: { type: 'boolean' },
  source: { type: 'string', multiple: true },
  timing: { type: 'boolean' },
} as const;

/** Throws UsageError with one line that says what is accepted. */
export function parseScanOptions(args: readonly string[]) {
  const { values, positionals: allPositionals } = readFlags('scan', args, SCAN_FLAGS);
  // In `--mcp /tools/mcp` the path is a positional. It begins with a slash, and an origin does not.
  const [mcpPath, ...morePaths] = values.mcp
    ? allPositionals.filter((text) => text.startsWith('/'))
    : [];
  const positionals = allPositionals.filter((text) => text !== mcpPath);
  if (morePaths.length > 0) throw new UsageError('--mcp: one endpoint at a time');
  if (positionals.length > 1) {
    throw new UsageError(`one origin at a time: ${positionals.length} were given`);
  }
  const [origin = null] = positionals;
  const { from = null } = values;
  if (origin === null && from === null) {
    throw new UsageError(`an origin is missing: ${showCall('scan')} https://api.example.com`);
  }
  return {
    /** As the user typed it; may be null if `from` is set. */
    origin,
    /** File of the recording to judge instead of a scan. */
    from,
    /** Path and query of `<origin>`, if it names a resource. The scan then requests this resource too. */
    resource: values.mcp || from !== null ? null : findPath(origin),
    /** Method of that resource; null sends a GET, and a POST only if the answer shows that one is needed. */
    method: parseOptionalChoice('--method', values.method?.toUpperCase(), ['GET', 'POST'] as const),
    /** True if the origin is the caller's own. It may then be private, and get a POST without a declaration. */
    allowPrivate: values['allow-private'] ?? false,
    format: parseChoice('--format', values.format ?? 'text', FORMAT_NAMES),
    output: values.output ?? null,
    minGrade: parseOptionalChoice('--min-grade', values['min-grade'], MIN_GRADES),
    minPayable: parseOptionalChoice('--min-payable', values['min-payable'], MIN_PAYABLE_VALUES),
    failOn: parseOptionalChoice('--fail-on', values['fail-on'], FAIL_ON_VALUES),
    /** Check ids and prefixes with `*`; null prints all. */
    only: parseOnly(values.only),
    checksVersion: values['checks-version'] ?? null,
    /** File for the recording. */
    save: values.save ?? null,
    offline: values.offline ?? false,
    /** URLs of blockchain nodes; null keeps the URLs of the environment. */
    rpc: values.rpc ?? null,
    solanaRpc: values['solana-rpc'] ?? null,
    /** A null path means that the scan looks for the endpoint. */
    mcp: values.mcp ? { path: mcpPath ?? findPath(origin) } : null,
    /** PATH=FILE pairs. */
    sources: values.source ?? [],
    timing: values.timing ?? false,
  };
}

/** Path and query of the resource that the origin names; null if it names none. */
function findPath(origin: string | null): string | null {
  const text = origin ?? '';
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (url === null || (url.pathname === '/' && url.search === '')) return null;
  return `${url.pathname}${url.search}`;
}

function parseOnly(list: string | undefined): readonly string[] | null {
  if (list === undefined) return null;
  const patterns = list.split(',').map((pattern) => pattern.trim().toUpperCase());
  const invalidPattern = patterns.find((pattern) => !/^[A-Z][A-Z0-9]*\*?$/.test(pattern));
  if (invalidPattern === undefined) return patterns;
  throw new UsageError(`--only ${JSON.stringify(list)}: give ids and prefixes, such as P1,S*`);
}
