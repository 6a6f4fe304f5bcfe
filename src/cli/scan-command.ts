import { bootPool } from './engine.ts';
import type { Streams } from './io.ts';
import type { ScanCommandOptions } from './scan-subject.ts';
import {
  FAIL_ON_VALUES,
  FORMAT_NAMES,
  parseChoice,
  parseOptionalChoice,
  readFlags,
  showCall,
  UsageError,
} from './usage.ts';

/** Returns exit code 0, or 1 if a threshold was missed. Throws UsageError, and the errors of a scan. */
export async function scanCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  // Bad flags are refused before a thread starts.
  const options = parseScanOptions(args);
  const pool = await bootPool();
  try {
    // The threads boot while this import loads the rest of the command.
    const { printAndSave, scanSubject } = await import('./scan-subject.ts');
    return await printAndSave(await scanSubject({ pool, options, streams }));
  } finally {
    await pool.close();
  }
}

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
export function parseScanOptions(args: readonly string[]): ScanCommandOptions {
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
    origin,
    from,
    resource: values.mcp || from !== null ? null : findPath(origin),
    method: parseOptionalChoice('--method', values.method?.toUpperCase(), ['GET', 'POST'] as const),
    allowPrivate: values['allow-private'] ?? false,
    format: parseChoice('--format', values.format ?? 'text', FORMAT_NAMES),
    output: values.output ?? null,
    minGrade: parseOptionalChoice('--min-grade', values['min-grade'], MIN_GRADES),
    minPayable: parseOptionalChoice('--min-payable', values['min-payable'], MIN_PAYABLE_VALUES),
    failOn: parseOptionalChoice('--fail-on', values['fail-on'], FAIL_ON_VALUES),
    only: parseOnly(values.only),
    checksVersion: values['checks-version'] ?? null,
    save: values.save ?? null,
    offline: values.offline ?? false,
    rpc: values.rpc ?? null,
    solanaRpc: values['solana-rpc'] ?? null,
    mcp: values.mcp ? { path: mcpPath ?? findPath(origin) } : null,
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
