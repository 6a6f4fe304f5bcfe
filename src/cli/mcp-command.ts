import { setTimeout as pause } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { type Clients, openClients } from '../scanner/clients/open-clients.ts';
import { explainOneCheck } from '../scanner/engine/catalog/catalog.ts';
import { OriginRefused } from '../scanner/guard/failures.ts';
import { type Origin, type OriginPolicy, parseOrigin } from '../scanner/guard/origin.ts';
import { createMcpServer } from '../scanner/mcp/create-server.ts';
import type { DirectorySearch, McpBackend, ToolAnswer } from '../scanner/mcp/tools.ts';
import type { ScanReport } from '../scanner/model/report.ts';
import { preflightInHand } from '../scanner/preflight/preflight.ts';
import { readPackageVersion, scannerUserAgent } from '../scanner/probe/client/user-agent.ts';
import { createScanner } from '../scanner/scan/run-scan.ts';
import { policyFor } from './allow-private.ts';
import { askUrl } from './ask-url.ts';
import { type Engine, startEngine } from './engine.ts';
import { createCliStanding } from './standing.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

const MAX_REPORTS = 100;
const SEARCH_TIMEOUT_MS = 10_000;

/** MCP clients give up a call after 60 s. */
const ANSWER_WITHIN_MS = 55_000;
/** A report that no caller has is kept this long, for the caller who heard that the scan still runs. */
const KEEP_UNREAD_MS = 300_000;

type McpSettings = { readonly allowPrivate: boolean; readonly service: string | null };

type LocalBackendOptions = McpSettings & {
  /** Aborts when the client disconnects from the session. */
  readonly sessionEnd: AbortSignal;
  /** Milliseconds until a call for a scan is answered, default 55,000. */
  readonly answerWithinMs?: number;
};

/** A scan whose report no caller has. */
type UnreadScan = {
  readonly report: Promise<ScanReport>;
  /** Null while the scan runs. */
  finishedAtMs: number | null;
};

/** Serves the tools over standard input and output until the client disconnects. Prints nothing else. */
export async function mcpCommand(args: readonly string[]): Promise<0> {
  const settings = parse(args);
  const engine = await startEngine(null);
  const clients = openClients();
  const session = new AbortController();
  try {
    const backendOptions = { ...settings, sessionEnd: session.signal };
    const server = createMcpServer({
      backend: createLocalBackend(engine, clients, backendOptions),
      version: readPackageVersion(),
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
    session.abort();
    await Promise.all([clients.close(), engine.pool.close()]);
  }
}

/** A scan goes on if its caller leaves or gets no report in time, and the next call for its origin joins it. */
export function createLocalBackend(
  engine: Engine,
  clients: Clients,
  options: LocalBackendOptions,
): McpBackend {
  const { allowPrivate, service, sessionEnd, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const reports = new Map<string, ScanReport>();
  const unreadScans = new Map<string, UnreadScan>();
  const userAgent = scannerUserAgent('command line');
  const preflightEngine = { ...engine, clients };

  function dropOldScans(): void {
    for (const [origin, { finishedAtMs }] of unreadScans) {
      const isOld = finishedAtMs !== null && performance.now() - finishedAtMs > KEEP_UNREAD_MS;
      if (isOld) unreadScans.delete(origin);
    }
  }

  function startScan(origin: Origin, policy: OriginPolicy): UnreadScan {
    const standing = createCliStanding(process.env);
    const scanner = createScanner({ ...engine, clients, policy, standing, userAgent });
    const outcome = scanner.scan(origin, { signal: sessionEnd });
    const scan: UnreadScan = { report: outcome.then(({ report }) => report), finishedAtMs: null };
    unreadScans.set(origin.url, scan);
    scan.report.then(
      (report) => {
        scan.finishedAtMs = performance.now();
        // The newest report goes to the end, so the first key is the oldest report.
        reports.delete(origin.url);
        reports.set(origin.url, report);
        const [oldest] = reports.keys();
        if (reports.size > MAX_REPORTS && oldest !== undefined) reports.delete(oldest);
      },
      // The next call scans again.
      () => unreadScans.delete(origin.url),
    );
    return scan;
  }

  return {
    async scan(url) {
      const policy = policyFor(url, allowPrivate);
      const origin = parseOrigin(url, policy);
      dropOldScans();
      const scan = unreadScans.get(origin.url) ?? startScan(origin, policy);
      // The timer keeps no process alive.
      const timeUp = pause(answerWithinMs, null, { ref: false });
      const report = await Promise.race([scan.report, timeUp]);
      if (report === null) return toStillRunning(origin);
      unreadScans.delete(origin.url);
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

function toStillRunning({ url }: Origin): ToolAnswer {
  const message = `The scan of ${url} is still running: call scan_origin again with the same url.`;
  const value = { error: 'scan_processing', message, status: 'processing', charged: false };
  return { value, isError: true };
}

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
