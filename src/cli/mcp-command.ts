import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createOracle, type Oracle } from '../buyers/create-oracle.ts';
import { explainOneCheck } from '../engine/catalog/explain.ts';
import { OriginRefused } from '../guard/errors.ts';
import { parseOrigin } from '../guard/origin.ts';
import { createMcpServer } from '../mcp/create-server.ts';
import type { DirectorySearch, McpBackend } from '../mcp/tools.ts';
import type { ScanReport } from '../model/report.ts';
import { preflightInHand } from '../preflight/preflight.ts';
import { packageVersion, scannerUserAgent } from '../probe/client/user-agent.ts';
import { createScanner } from '../scan/run-scan.ts';
import { policyFor } from './allow-private.ts';
import { askUrl } from './ask-url.ts';
import { type Engine, startEngine } from './engine.ts';
import type { Streams } from './io.ts';
import { createCliStanding } from './standing.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

const MAX_REPORTS = 100;
const SEARCH_TIMEOUT_MS = 10_000;

type McpSettings = { readonly allowPrivate: boolean; readonly service: string | null };

/** Serves the tools over standard input and output until the client disconnects. Prints nothing else. */
export async function mcpCommand(args: readonly string[], _streams: Streams): Promise<0> {
  const settings = parse(args);
  const engine = await startEngine(null);
  const oracle = createOracle();
  try {
    const server = createMcpServer({
      backend: createLocalBackend(engine, oracle, settings),
      version: packageVersion(),
      describeFailure: (error) => ({
        error: error instanceof OriginRefused ? error.code : 'failed',
        message: error instanceof Error ? error.message : 'The tool failed.',
      }),
    });
    const disconnection = new Promise<void>((resolve) => {
      server.onclose = resolve;
      process.stdin.once('end', resolve);
      process.stdin.once('close', resolve);
    });
    await server.connect(new StdioServerTransport());
    await disconnection;
    await server.close();
    return 0;
  } finally {
    await Promise.all([oracle.close(), engine.pool.close()]);
  }
}

function createLocalBackend(
  engine: Engine,
  oracle: Oracle,
  { allowPrivate, service }: McpSettings,
): McpBackend {
  const reports = new Map<string, ScanReport>();
  const userAgent = scannerUserAgent('command line');
  const preflightEngine = { ...engine, oracle };
  return {
    async scan(url, { disconnect }) {
      const policy = policyFor(url, allowPrivate);
      const origin = parseOrigin(url, policy);
      const standing = createCliStanding(process.env);
      const scanner = createScanner({ ...engine, oracle, policy, standing, userAgent });
      const { report } = await scanner.scan(origin, { signal: disconnect });
      // The newest report goes to the end, so the first key is the oldest report.
      reports.delete(origin.url);
      reports.set(origin.url, report);
      const [oldest] = reports.keys();
      if (reports.size > MAX_REPORTS && oldest !== undefined) reports.delete(oldest);
      return { value: report };
    },
    async report(url) {
      const { url: origin } = parseOrigin(url, policyFor(url, allowPrivate));
      const report = reports.get(origin);
      if (report !== undefined) return report;
      throw new Error(`${origin} was not scanned in this session: call scan_origin first.`);
    },
    explain: (id) => explainOneCheck(id, engine.catalog),
    preflight: (url, method, maxPrice) =>
      askUrl(
        { url, method, maxPrice, allowPrivate, caller: 'command line' },
        () => preflightEngine,
      ),
    validate: (challenge, url) =>
      preflightInHand(challenge, url, { maxPrice: null }, preflightEngine),
    search: (query) => searchDirectory(service, query),
  };
}

/** Searches the directory of the service that `--service` names. Throws without that flag. */
async function searchDirectory(service: string | null, query: DirectorySearch): Promise<object> {
  if (service === null) {
    throw new Error('Only a service has a directory. Start with mcp --service URL.');
  }
  const url = new URL('/v1/directory', service);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const answer = await fetch(url, { signal: AbortSignal.timeout(SEARCH_TIMEOUT_MS) });
  const body: unknown = await answer.json();
  if (answer.ok && typeof body === 'object' && body !== null) return body;
  throw new Error(`${url.origin} answered ${answer.status}.`);
}

function parse(args: readonly string[]): McpSettings {
  const flags = { 'allow-private': { type: 'boolean' }, service: { type: 'string' } } as const;
  const { values } = readFlags('mcp', args, flags, false);
  const { 'allow-private': allowPrivate = false, service = null } = values;
  if (service === null || URL.canParse(service)) return { allowPrivate, service };
  throw new UsageError(usageLine('mcp'));
}
