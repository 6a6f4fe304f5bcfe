import { defuseCommands } from './formatters/escapes.ts';
import { formatPayTest } from './formatters/pay-test.ts';
import { type Streams, write, writeOutput } from './io.ts';
import {
  hasJudgedTrial,
  isTrialId,
  type PayTestReport,
  TRIAL_IDS,
  type TrialId,
  type TrialResult,
} from './pay-test/result.ts';
import type { SellerRoute } from './pay-test/route-tester.ts';
import type { Target } from './pay-test/seller-client.ts';
import { readRepository } from './sources.ts';
import {
  FAIL_ON_VALUES,
  FORMAT_NAMES,
  parseChoice,
  parseOptionalChoice,
  readFlags,
  showCall,
  UsageError,
} from './usage.ts';

type PayTestCall = ReturnType<typeof parsePayTest>;

const FACILITATOR_VARIABLES = ['FACILITATOR_URL', 'X402_FACILITATOR_URL'];
const ROUTE_PATTERN = /^(?:([A-Za-z]{3,7})\s+)?(\/\S*)$/;
const NETWORK_PATTERN = /^(?:eip155:\d{1,15}|[a-z][a-z0-9-]{0,39})$/;

/** Time limit of the scan that looks for paid routes. */
const FIND_ROUTES_MS = 20_000;
/** Shells report an end by SIGINT as 128 + 2. */
const INTERRUPTED_EXIT_CODE = 130;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Returns exit code 0, 1 if `--fail-on` was missed, 2 if nothing was tested, or 130 after a signal. Throws
 * PayTestImpossible if the seller cannot be tested.
 */
export async function payTestCommand(
  args: readonly string[],
  { out, err }: Streams,
  namesFromDotEnv: readonly string[] = [],
): Promise<number> {
  const call = parsePayTest(args);
  const { runPayTest } = await import('./pay-test/run-pay-test.ts');
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new Error('interrupted'));
  for (const name of SIGNALS) process.once(name, interrupt);
  try {
    const report = await runPayTest({
      ...call,
      // The seller reads `.env` itself, perhaps after another file that counts more, such as `.env.local`.
      withheldVariables: namesFromDotEnv,
      findRoutes: (target) => findRoutes(target, call, interruption.signal),
      say: (line) => err.write(`${defuseCommands(line)}\n`),
      signal: interruption.signal,
    });
    const text = formatPayTest(report, call.format, readRepository().pipelineFile);
    await (call.output === null ? write(out, text) : writeOutput('--output', call.output, text));
    const [message, code] = judgeExit(report, call);
    if (message !== null) await write(err, `${message}\n`);
    return code;
  } catch (error) {
    if (interruption.signal.aborted) return INTERRUPTED_EXIT_CODE;
    throw error;
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt);
  }
}

const PAY_TEST_FLAGS = {
  start: { type: 'string' },
  route: { type: 'string', multiple: true },
  'failing-route': { type: 'string' },
  body: { type: 'string' },
  only: { type: 'string' },
  'facilitator-host': { type: 'string' },
  'facilitator-port': { type: 'string' },
  'facilitator-env': { type: 'string', multiple: true },
  network: { type: 'string', multiple: true },
  format: { type: 'string' },
  output: { type: 'string' },
  'fail-on': { type: 'string' },
} as const;

/** Throws UsageError with one line that says what is accepted. */
export function parsePayTest(args: readonly string[]) {
  const { values, positionals } = readFlags('pay-test', args, PAY_TEST_FLAGS);
  const [target, ...more] = positionals;
  if (target === undefined || more.length > 0) {
    throw new UsageError(
      `give the address of your seller: ${showCall('pay-test')} http://127.0.0.1:3000 --start "npm start"`,
    );
  }
  const body = values.body ?? null;
  const failing = values['failing-route'];
  return {
    target,
    start: values.start ?? null,
    routes: (values.route ?? []).map((text) => parseRoute('--route', text, body)),
    failingRoute: failing === undefined ? null : parseRoute('--failing-route', failing, body),
    body,
    only: values.only === undefined ? null : parseOnly(values.only),
    facilitatorHost: values['facilitator-host'] ?? '127.0.0.1',
    facilitatorPort: parsePort(values['facilitator-port'] ?? '0'),
    variables: [...FACILITATOR_VARIABLES, ...(values['facilitator-env'] ?? []).map(parseVariable)],
    networks: (values.network ?? []).map(parseNetwork),
    format: parseChoice('--format', values.format ?? 'text', FORMAT_NAMES),
    output: values.output ?? null,
    failOn: parseOptionalChoice('--fail-on', values['fail-on'], FAIL_ON_VALUES),
  };
}

function parseRoute(flag: string, text: string, body: string | null): SellerRoute {
  const [, method = 'GET', path] = ROUTE_PATTERN.exec(text.trim()) ?? [];
  if (path !== undefined && !path.startsWith('//')) {
    // A request line holds only ASCII.
    const encodedPath = path.replace(/[^!-~]+/gu, encodeURIComponent);
    return { method: method.toUpperCase(), path: encodedPath, body };
  }
  throw new UsageError(
    `${flag} ${JSON.stringify(text)}: give method and path, such as "GET /weather"`,
  );
}

function parseOnly(list: string): readonly TrialId[] {
  return list.split(',').map((part) => {
    const id = part.trim().toUpperCase();
    if (isTrialId(id)) return id;
    throw new UsageError(`--only ${JSON.stringify(list)}: there are ${TRIAL_IDS.join(', ')}`);
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--facilitator-port ${JSON.stringify(text)}: give a port, 0 for any`);
}

function parseVariable(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw new UsageError(`--facilitator-env ${JSON.stringify(name)}: give the name of a variable`);
}

function parseNetwork(name: string): string {
  if (NETWORK_PATTERN.test(name)) return name;
  throw new UsageError(
    `--network ${JSON.stringify(name)}: give a network such as eip155:8453 or base`,
  );
}

/** A named route that could not be paid counts as a failure: what was not tested is not sound. */
function judgeExit(
  report: PayTestReport,
  { failOn, routes }: Pick<PayTestCall, 'failOn' | 'routes'>,
): readonly [message: string | null, code: number] {
  if (!hasJudgedTrial(report)) {
    const [first] = report.trials;
    return [`nothing was tested${first === undefined ? '' : `: ${first.evidence}`}`, 2];
  }
  if (failOn === null) return [null, 0];
  const isOffending = ({ id, status }: TrialResult) =>
    status === 'fail' ||
    (failOn === 'warn' && status === 'warn') ||
    (routes.length > 0 && id === 'T1' && status === 'not_run');
  const offendingTrials = report.trials.filter(isOffending);
  if (offendingTrials.length === 0) return [null, 0];
  const names = offendingTrials.map(({ id, status, route }) =>
    status === 'not_run' ? `${route} was not paid` : id,
  );
  return [`--fail-on ${failOn}: ${[...new Set(names)].join(', ')}`, 1];
}

/** Scans the seller and returns the routes that answer 402. */
async function findRoutes(
  target: Target,
  { body }: PayTestCall,
  signal: AbortSignal,
): Promise<readonly SellerRoute[]> {
  const { startEngine } = await import('./engine.ts');
  const { listFirstProbes } = await import('../scanner/parse/x402/resource-answers.ts');
  const { createScanner } = await import('../scanner/scan/run-scan.ts');
  const { OFFLINE_STANDING } = await import('../scanner/model/standing.ts');
  const { allowOrigin, parseOrigin } = await import('../scanner/guard/origin.ts');
  const { scannerUserAgent } = await import('../scanner/probe/client/user-agent.ts');
  // The policy allows only the seller's host and port, so no redirect can lead to a public address.
  const policy = allowOrigin(target.origin, { allowedPorts: [], allowHosts: new Set() });
  const engine = await startEngine(null);
  const scanner = createScanner({
    ...engine,
    policy,
    standing: OFFLINE_STANDING,
    userAgent: scannerUserAgent('command line'),
    gatherDeadlineMs: FIND_ROUTES_MS,
    resolver: {
      resolve4: async () => [],
      resolve6: async () => [],
      lookup: async () => [...target.addresses],
    },
  });
  try {
    const { observations } = await scanner.scan(parseOrigin(target.origin, policy), { signal });
    return observations.resources.probed.flatMap((resource) => {
      const challenged = listFirstProbes(resource).filter(
        ({ answer }) => answer.ok && answer.data.status === 402,
      );
      const probe = challenged.find(({ method }) => method === resource.method) ?? challenged[0];
      return probe === undefined ? [] : [{ method: probe.method, path: resource.path, body }];
    });
  } finally {
    await scanner.close();
  }
}
