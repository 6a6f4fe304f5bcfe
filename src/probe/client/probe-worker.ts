/** The thread of the probe: runs the guarded clients of all scans, and all sockets to origins. */
import { parentPort } from 'node:worker_threads';
import { serialize } from '../../parse/json/transfer.ts';
import { createProbeClient, type ProbeClient } from './client.ts';
import { type CallResult, type FromProbe, NO_STATS, type ToProbe, toFault } from './messages.ts';
import { TextBudget } from './text-budget.ts';

const CLOSED: CallResult = {
  kind: 'fault',
  fault: { name: 'other', message: 'this client is closed' },
};

type Opened = { readonly client: ProbeClient; readonly clock: AbortController };

if (parentPort === null) throw new Error('probe-worker.ts runs as a worker: use openProbeThread.');
const port = parentPort;
const tell = (message: FromProbe) => port.postMessage(message);
const texts = new TextBudget({
  onChange: (isSaturated) => tell({ kind: 'saturated', isSaturated }),
});
// One scan's broken socket is not to end the scans of all others: its own deadline ends it.
process.on('uncaughtException', (error) => tell({ kind: 'error', error: describe(error) }));
process.on('unhandledRejection', (error) => tell({ kind: 'error', error: describe(error) }));
const opened = new Map<number, Opened>();

port.on('message', (message: ToProbe) => {
  if (message.kind === 'open') {
    const clock = new AbortController();
    const client = createProbeClient({ ...message.options, signal: clock.signal, texts });
    opened.set(message.client, { client, clock });
    return;
  }
  const here = opened.get(message.client);
  if (here === undefined) {
    if (!('call' in message)) return;
    const { client, call } = message;
    tell({ kind: 'result', client, call, result: CLOSED, stats: NO_STATS });
    return;
  }
  const { client, clock } = here;
  if (message.kind === 'expire') clock.abort();
  if (message.kind === 'close') {
    opened.delete(message.client);
    client.close();
  }
  if (message.kind === 'request') {
    const seen = client.request(message.request);
    answer(
      message,
      client,
      seen.then((one): CallResult => ({ kind: 'seen', seen: serialize(one) })),
    );
  }
  if (message.kind === 'check') {
    const resolution = client.check(message.origin);
    answer(
      message,
      client,
      resolution.then((one): CallResult => ({ kind: 'resolved', resolution: one })),
    );
  }
});

tell({ kind: 'ready' });

function answer(
  { client, call }: { readonly client: number; readonly call: number },
  { stats }: ProbeClient,
  result: Promise<CallResult>,
): void {
  const asFault = (error: unknown): CallResult => ({ kind: 'fault', fault: toFault(error) });
  result.catch(asFault).then((settled) => {
    tell({ kind: 'result', client, call, result: settled, stats: stats() });
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
