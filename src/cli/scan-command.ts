import { bootPool } from './engine.ts';
import type { Streams } from './io.ts';
import type { ScanCommandOptions } from './scan-subject.ts';
import { FORMAT_NAMES, parseChoice, readFlags, showCall, UsageError } from './usage.ts';

/** The exit code: 0, or 1 if a threshold was missed. Throws UsageError and what scans throw. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  // Bad flags are refused before a thread starts, and a bad origin before a request is sent.
  const options = parseScanOptions(args);
  const pool = await bootPool();
  try {
    // The thread boots while this one loads the rest of the command.
    const { scanSubject } = await import('./scan-subject.ts');
    return await scanSubject({ pool, options, streams });
  } finally {
    await pool.close();
  }
}

const MIN_PAYABLE = ['default', 'settings'] as const;
const MIN_GRADES = ['A', 'B', 'C', 'D'] as const;
const FAIL_ON = ['fail', 'warn'] as const;

/** Throws UsageError with one line that says what is accepted. */
export function parseScanOptions(args: readonly string[]): ScanCommandOptions {
  const { values, positionals: typed } = parse(args);
  // `--mcp /tools/mcp`: no origin begins with a slash.
  const [path, ...paths] = values.mcp ? typed.filter((one) => one.startsWith('/')) : [];
  const positionals = typed.filter((one) => one !== path);
  if (paths.length > 0) throw new UsageError('--mcp: one endpoint at a time');
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
    resource: values.mcp || from !== null ? null : pathIn(origin),
    allowPrivate: values['allow-private'] ?? false,
    format: parseChoice('--format', values.format ?? 'text', FORMAT_NAMES),
    output: values.output ?? null,
    minGrade: optional(values['min-grade'], (v) => parseChoice('--min-grade', v, MIN_GRADES)),
    minPayable: optional(values['min-payable'], (v) =>
      parseChoice('--min-payable', v, MIN_PAYABLE),
    ),
    failOn: optional(values['fail-on'], (v) => parseChoice('--fail-on', v, FAIL_ON)),
    only: optional(values.only, parseOnly),
    checksVersion: values['checks-version'] ?? null,
    save: values.save ?? null,
    offline: values.offline ?? false,
    ...nodesIn(values),
    mcp: values.mcp ? { path: path ?? pathIn(origin) } : null,
    sources: values.source ?? [],
    timing: values.timing ?? false,
  };
}

/** Null for an origin without a path. */
function pathIn(origin: string | null): string | null {
  const typed = origin ?? '';
  const url = URL.parse(typed.includes('://') ? typed : `https://${typed}`);
  if (url === null || (url.pathname === '/' && url.search === '')) return null;
  return `${url.pathname}${url.search}`;
}

function nodesIn(values: ReturnType<typeof parse>['values']) {
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

function optional<T>(value: string | undefined, read: (value: string) => T): T | null {
  return value === undefined ? null : read(value);
}

function parseOnly(list: string): readonly string[] {
  const patterns = list.split(',').map((pattern) => pattern.trim().toUpperCase());
  const odd = patterns.find((pattern) => !/^[A-Z][A-Z0-9]*\*?$/.test(pattern));
  if (odd === undefined) return patterns;
  throw new UsageError(`--only ${JSON.stringify(list)}: give ids and prefixes, such as P1,S*`);
}
