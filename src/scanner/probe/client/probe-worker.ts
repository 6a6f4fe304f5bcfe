/** Entry of the probe thread, which runs the guarded clients of all scans and all sockets to origins. */
import { MessagePort, parentPort, workerData } from 'node:worker_threads';
import { expose } from 'comlink';
import { createSystemResolver } from '../../guard/name-servers.ts';
import { serialize } from '../../parse/json/transfer.ts';
import { createProbeClient, type ProbeClient } from './client.ts';
import {
  type ClientAnswer,
  type ClientFault,
  NO_STATS,
  type ProbeCalls,
  type ProbeNotice,
  toFault,
} from './messages.ts';
import { TextBudget } from './text-budget.ts';

const CLOSED_FAULT: ClientFault = { name: 'other', message: 'this client is closed' };

type OpenClient = { readonly client: ProbeClient; readonly deadline: AbortController };

if (!(workerData instanceof MessagePort)) {
  throw new Error('probe-worker.ts runs as a worker: use openProbeThread.');
}
/** One for all clients, because it keeps for some seconds that the name servers answer. */
const resolver = createSystemResolver();
const sendMessage = (message: ProbeNotice) => parentPort?.postMessage(message);
const textBudget = new TextBudget({
  onChange: (isSaturated) => sendMessage({ kind: 'saturated', isSaturated }),
});
// A broken socket of one scan must not end the other scans. The scan's deadline ends that scan.
process.on('uncaughtException', (error) => sendMessage({ kind: 'error', error: describe(error) }));
process.on('unhandledRejection', (error) => sendMessage({ kind: 'error', error: describe(error) }));
const openClients = new Map<number, OpenClient>();

const calls: ProbeCalls = {
  open(number, options) {
    const deadline = new AbortController();
    const { signal } = deadline;
    const client = createProbeClient({ ...options, signal, textBudget, resolver });
    openClients.set(number, { client, deadline });
  },
  request: (number, request) =>
    callClient(number, async (client) => serialize(await client.request(request))),
  resolveOrigin: (number, origin) => callClient(number, (client) => client.resolveOrigin(origin)),
  expire: (number) => openClients.get(number)?.deadline.abort(),
  close(number) {
    openClients.get(number)?.client.close();
    openClients.delete(number);
  },
};
expose(calls, workerData);
sendMessage({ kind: 'ready' });

/** Returns errors as plain data, because their classes are lost between threads. */
async function callClient<T>(
  number: number,
  ask: (client: ProbeClient) => Promise<T>,
): Promise<ClientAnswer<T>> {
  const client = openClients.get(number)?.client;
  if (client === undefined) return { fault: CLOSED_FAULT, stats: NO_STATS };
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
