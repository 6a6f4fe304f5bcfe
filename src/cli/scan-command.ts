import { bootPool } from './engine.ts';
import type { Streams } from './io.ts';
import type { ScanCommandOptions } from './scan-subject.ts';
import { FORMAT_NAMES, parseChoice, readFlags, showCall, UsageError } from './usage.ts';

/** Returns exit code 0, or 1 if a threshold was missed. Throws UsageError, and the errors of a scan. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  // This refuses bad flags before a thread starts.
  const options = parseScanOptions(args);
  const pool = await bootPool();
  try {
    // The threads boot while this import loads the rest of the command.
    const { scanSubject } = await import('./scan-subject.ts');
    return await scanSubject({ pool, options, streams });
  } finally {
    await pool.close();
  }
}

const MIN_PAYABLE_VALUES = ['default', 'settings'] as const;
const MIN_GRADES = ['A', 'B', 'C', 'D'] as const;
const FAIL_ON_VALUES = ['fail', 'warn'] as const;

/** Throws UsageError with one line that says what is accepted. */
export function parseScanOptions(args: readonly string[]): ScanCommandOptions {
  const { values, positionals: allPositionals } = parse(args);
  // In `--mcp /tools/mcp` the path is a positional. It begins with a slash, and an origin does not.
  const [mcpPath, ...morePaths] = values.mcp
    ? allPositionals.filter((text) => text.startsWith('/'))
    : [];
  const positionals = allPositionals.filter((text) => text !== mcpPath);
  if (morePaths.length > 0) throw new UsageError('--mcp: one endpoint at a time');
  if (positionals.length > 1) {
    throw new UsageError(`one origin at a time: ${positionals.length} were given`);
  }
  const origin = positionals[0] ?? null;
  const from = values.from ?? null;
  if (origin === null && from === null) {
    throw new UsageError(`an origin is missing: ${showCall('scan')} https://api.example.com`);
  }
  return {
    origin,
    from,
    resource: values.mcp || from !== null ? null : findPath(origin),
    allowPrivate: values['allow-private'] ?? false,
    format: parseChoice('--format', values.format ?? 'text', FORMAT_NAMES),
    output: values.output ?? null,
    minGrade: parseOptional(values['min-grade'], (text) =>
      parseChoice('--min-grade', text, MIN_GRADES),
    ),
    minPayable: parseOptional(values['min-payable'], (text) =>
      parseChoice('--min-payable', text, MIN_PAYABLE_VALUES),
    ),
    failOn: parseOptional(values['fail-on'], (text) =>
      parseChoice('--fail-on', text, FAIL_ON_VALUES),
    ),
    only: parseOptional(values.only, parseOnly),
    checksVersion: values['checks-version'] ?? null,
    save: values.save ?? null,
    offline: values.offline ?? false,
    ...parseNodes(values),
    mcp: values.mcp ? { path: mcpPath ?? findPath(origin) } : null,
    sources: values.source ?? [],
    timing: values.timing ?? false,
  };
}

/** Path and query of the resource that the origin names; null if it names none. */
function findPath(origin: string | null): string | null {
  const typed = origin ?? '';
  const url = URL.parse(typed.includes('://') ? typed : `https://${typed}`);
  if (url === null || (url.pathname === '/' && url.search === '')) return null;
  return `${url.pathname}${url.search}`;
}

function parseNodes(values: ReturnType<typeof parse>['values']) {
  return { rpc: values.rpc ?? null, solanaRpc: values['solana-rpc'] ?? null };
}

function parse(args: readonly string[]) {
  return readFlags('scan', args, {
    'allow-private': { type: 'boolean' },
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
  });
}

function parseOptional<T>(value: string | undefined, parseValue: (value: string) => T): T | null {
  return value === undefined ? null : parseValue(value);
}

function parseOnly(list: string): readonly string[] {
  const patterns = list.split(',').map((pattern) => pattern.trim().toUpperCase());
  const invalidPattern = patterns.find((pattern) => !/^[A-Z][A-Z0-9]*\*?$/.test(pattern));
  if (invalidPattern === undefined) return patterns;
  throw new UsageError(`--only ${JSON.stringify(list)}: give ids and prefixes, such as P1,S*`);
}
