/** The thread of the clients: closes the network, loads the packages, tries what it is sent. */
import { parentPort } from 'node:worker_threads';
import './no-network.ts';
import type { TrialJob, TrialMessage } from './job.ts';
import { leaveNoTrace } from './leave-no-trace.ts';

const MAX_DETAIL_CHARS = 500;

function say(message: TrialMessage): void {
  parentPort?.postMessage(message);
}

/** Imported late: the network must be closed before any package keeps a reference to it. */
async function load() {
  const [{ createBuyers }, { tryChallenge }] = await Promise.all([
    import('./buyers.ts'),
    import('./try-challenge.ts'),
  ]);
  return { buyers: createBuyers(), tryChallenge };
}

const loading = load();

async function work({ ticket, seen, solana }: TrialJob): Promise<TrialMessage> {
  try {
    const { buyers, tryChallenge } = await loading.then(async (loaded) => {
      await loaded.buyers('full', solana);
      return loaded;
    });
    say({ kind: 'started', ticket, cpu: process.threadCpuUsage() });
    return await leaveNoTrace(() => tryChallenge(seen, buyers)).then(
      (trial) => ({ kind: 'done', ticket, trial }),
      (error: unknown) => ({ kind: 'fault', ticket, detail: detailOf(error) }),
    );
  } catch (error) {
    return { kind: 'broken', detail: detailOf(error) };
  }
}

function detailOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MAX_DETAIL_CHARS);
}

// Said once a job asks for it, not as an unhandled rejection.
loading.catch(() => {});
parentPort?.on('message', async (job: TrialJob) => say(await work(job)));
