import type { TrialResult } from '../pay-test/result.ts';
import type { SellerRoute } from '../pay-test/route-tester.ts';
import type { Target } from '../pay-test/target.ts';
import { breakCommands } from './formatters/escapes.ts';
import { formatPayTest } from './formatters/pay-test.ts';
import { type Streams, write, writeOutput } from './io.ts';
import { type PayTestCall, parsePayTest } from './pay-test-options.ts';

/** Short, because this scan only looks for paid routes. */
const GATHER_MS = 20_000;
const INTERRUPTED = 130;

/** Exit 0, or 1 if `--fail-on` was missed. Throws PayTestImpossible if there is nothing to judge. */
export async function payTestCommand(
  args: readonly string[],
  { out, err }: Streams,
): Promise<number> {
  const call = parsePayTest(args);
  const { runPayTest } = await import('../pay-test/run-pay-test.ts');
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('interrupted'));
  for (const name of SIGNALS) process.once(name, interrupt);
  try {
    const report = await runPayTest({
      ...call,
      findRoutes: (target) => findRoutes(target, call),
      say: (line) => err.write(`${breakCommands(line)}\n`),
      signal: interrupted.signal,
    });
    const text = formatPayTest(report, call.format);
    await (call.output === null ? write(out, text) : writeOutput('--output', call.output, text));
    const missed = report.trials.filter((trial) => offends(trial, call.failOn));
    if (missed.length === 0) return 0;
    const ids = [...new Set(missed.map(({ id }) => id))].join(', ');
    await write(err, `--fail-on ${call.failOn}: ${ids}\n`);
    return 1;
  } catch (error) {
    if (interrupted.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function offends({ status }: TrialResult, failOn: PayTestCall['failOn']): boolean {
  return failOn !== null && (status === 'fail' || (failOn === 'warn' && status === 'warn'));
}

/** Finds the routes that answer a scan by 402. */
async function findRoutes(target: Target, { body }: PayTestCall): Promise<readonly SellerRoute[]> {
  const [{ startEngine }, { createScanner }, { OFFLINE_STANDING }] = await Promise.all([
    import('./engine.ts'),
    import('../scan/run-scan.ts'),
    import('../model/standing.ts'),
  ]);
  const [{ allowingOrigin, parseOrigin }, { scannerUserAgent }] = await Promise.all([
    import('../guard/origin.ts'),
    import('../probe/client/user-agent.ts'),
  ]);
  // Without allowed ports only the exception is reached, so no redirect leads to a public address.
  const policy = allowingOrigin(target.origin, { allowedPorts: [], allowHosts: new Set() });
  const engine = await startEngine(null);
  const scanner = createScanner({
    ...engine,
    policy,
    standing: OFFLINE_STANDING,
    userAgent: scannerUserAgent('command line'),
    gatherDeadlineMs: GATHER_MS,
    resolver: {
      resolve4: async () => [],
      resolve6: async () => [],
      lookup: async () => [...target.addresses],
    },
  });
  try {
    const { observations } = await scanner.scan(parseOrigin(target.origin, policy));
    const found = observations.resources.probed.flatMap(({ path, method, probes }) => {
      const paid = probes.filter(
        (probe) =>
          probe.number === 1 &&
          probe.method !== 'HEAD' &&
          probe.answer.ok &&
          probe.answer.data.status === 402,
      );
      const own = paid.find((probe) => probe.method === method) ?? paid[0];
      return own === undefined ? [] : [{ method: own.method, path, body }];
    });
    return found;
  } finally {
    await scanner.close();
  }
}
