/** The thread of the probe: runs the guarded clients of all scans, and all sockets to origins. */
import { MessagePort, parentPort, workerData } from 'node:worker_threads';
import { expose } from 'comlink';
import { serialize } from '../../parse/json/transfer.ts';
import { createProbeClient, type ProbeClient } from './client.ts';
import {
  type ClientAnswer,
  type ClientFault,
  type News,
  NO_STATS,
  type ProbeCalls,
  toFault,
} from './messages.ts';
import { TextBudget } from './scan-budget.ts';

const CLOSED: ClientFault = { name: 'other', message: 'this client is closed' };

type OpenClient = { readonly client: ProbeClient; readonly clock: AbortController };

if (!(workerData instanceof MessagePort)) {
  throw new Error('probe-worker.ts runs as a worker: use openProbeThread.');
}
const tell = (news: News) => parentPort?.postMessage(news);
const texts = new TextBudget({
  onChange: (isSaturated) => tell({ kind: 'saturated', isSaturated }),
});
// One scan's broken socket is not to end the scans of all others: its own deadline ends it.
process.on('uncaughtException', (error) => tell({ kind: 'error', error: describe(error) }));
process.on('unhandledRejection', (error) => tell({ kind: 'error', error: describe(error) }));
const opened = new Map<number, OpenClient>();

const calls: ProbeCalls = {
  open(number, options) {
    const clock = new AbortController();
    const client = createProbeClient({ ...options, signal: clock.signal, texts });
    opened.set(number, { client, clock });
  },
  request: (number, request) =>
    answer(number, async (client) => serialize(await client.request(request))),
  check: (number, origin) => answer(number, (client) => client.check(origin)),
  expire: (number) => opened.get(number)?.clock.abort(),
  close(number) {
    opened.get(number)?.client.close();
    opened.delete(number);
  },
};
expose(calls, workerData);
tell({ kind: 'ready' });

/** Errors are values here: their classes do not survive the way between threads. */
async function answer<T>(
  number: number,
  ask: (client: ProbeClient) => Promise<T>,
): Promise<ClientAnswer<T>> {
  const client = opened.get(number)?.client;
  if (client === undefined) return { fault: CLOSED, stats: NO_STATS };
  try {
    const value = await ask(client);
    return { value, stats: client.stats() };
  } catch (error) {
    return { fault: toFault(error), stats: client.stats() };
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
