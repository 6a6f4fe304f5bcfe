/** Runs all connections to origins on one separate thread, so that they do not delay answers to callers. */
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import type { HttpData, Observation } from '../../model/observation.ts';
import {
  countTextBytes,
  deserializeFrozen,
  MAX_BYTES_PER_CHAR,
} from '../../parse/json/transfer.ts';
import type { ProbeClient, ProbeClientOptions, ProbeStats } from './client.ts';
import {
  type ClientAnswer,
  NO_STATS,
  type ProbeCalls,
  type ProbeNotice,
  type SendableOptions,
  toError,
} from './messages.ts';
import { collectSoon } from './text-budget.ts';

export type ThreadedClientOptions = SendableOptions & Pick<ProbeClientOptions, 'signal'>;

export type ProbeThread = ReturnType<typeof openProbeThread>;

type ProbeThreadOptions = {
  /** Called with errors of the thread. If the thread ended, the next client starts another. */
  readonly onError?: OnError;
  /** Heap in MiB, default 512. It holds the texts of answers, but not their bytes. */
  readonly heapMb?: number;
  /** Milliseconds until a thread without a client ends, default 60,000. */
  readonly idleMs?: number;
  /** Default empty, because the environment of this process holds keys that the thread does not need. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default none, because flags such as `--input-type` concern only the entry of this process. */
  readonly execArgv?: readonly string[];
};

type OnError = (message: string, error: unknown) => void;

/** A failure of the scanner, not of the origin. The scan ends, and its payer is not charged. */
export class ProbeThreadLost extends Error {
  override readonly name = 'ProbeThreadLost';

  constructor(cause: unknown) {
    super('The thread that asks origins ended: scan again.', { cause });
  }
}

const WORKER = fileURLToPath(new URL('./probe-worker.ts', import.meta.url));
const HEAP_MB = 512;
/** By default V8's young generation grows to several times this size, although its objects die soon. */
const YOUNG_HEAP_MB = 8;
const IDLE_MS = 60_000;
const END_FAILED = 'the thread that asks origins did not end';

/** Starts the thread with the first client, and again after it ended. */
export function openProbeThread(options: ProbeThreadOptions = {}) {
  let thread: RunningThread | null = null;
  let isClosed = false;
  const ensureRunning = (): RunningThread => {
    if (isClosed) throw new ProbeThreadLost(new Error('closed'));
    if (thread === null || thread.isLost) thread = new RunningThread(options);
    return thread;
  };
  return {
    /** Like `createProbeClient`. Requests reject with ProbeThreadLost if the thread ends. */
    createClient: (settings: ThreadedClientOptions) => ensureRunning().createClient(settings),
    /** True while the running scans hold too much text. No further scan may begin then. */
    isSaturated: () => thread?.isSaturated ?? false,
    /** Starts the thread. Resolves when the thread can send requests, or has failed to start. */
    ready: () => ensureRunning().ready,
    /** True from the start until `idleMs` after the last client closed. */
    isAlive: () => thread !== null && !thread.isLost,
    close: async (): Promise<void> => {
      isClosed = true;
      await thread?.close();
    },
  };
}

class RunningThread {
  isLost = false;
  isSaturated = false;
  readonly ready: Promise<void>;
  readonly #resolveReady: () => void;
  readonly #worker: Worker;
  /** Comlink's calls use this port. Other messages use the worker's own port. */
  readonly #port: MessagePort;
  readonly #calls: Pick<Remote<ProbeCalls>, keyof ProbeCalls>;
  readonly #onError: OnError;
  /** Each function rejects one unanswered call. */
  readonly #pendingRejects = new Set<(error: ProbeThreadLost) => void>();
  readonly #clients = new Set<number>();
  readonly #idleMs: number;
  #idleTimer: NodeJS.Timeout | undefined;
  #lastClientNumber = 0;

  constructor(options: ProbeThreadOptions) {
    const { onError = () => undefined, heapMb = HEAP_MB, idleMs = IDLE_MS } = options;
    const { environment = {}, execArgv = [] } = options;
    this.#onError = onError;
    this.#idleMs = idleMs;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.#resolveReady = ready.resolve;
    const { port1, port2 } = new MessageChannel();
    this.#worker = new Worker(WORKER, {
      name: 'probe',
      workerData: port2,
      transferList: [port2],
      env: environment,
      execArgv: [...execArgv],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    this.#worker.on('message', (message: ProbeNotice) => this.#receiveNotice(message));
    this.#worker.on('error', (error) => {
      onError('the thread that asks origins ended', error);
      this.#markLost(error);
    });
    this.#worker.on('exit', (code) => this.#markLost(new Error(`exit code ${code}`)));
    this.#port = port1;
    const { open, request, resolveOrigin, expire, close } = wrap<ProbeCalls>(port1);
    // Read once, because Comlink makes and tracks a new proxy each time that a member is read.
    this.#calls = { open, request, resolveOrigin, expire, close };
    // Only running calls keep the process alive.
    this.#worker.unref();
    this.#port.unref();
  }

  createClient({ signal, policy, userAgent, extraCa, limits }: ThreadedClientOptions): ProbeClient {
    this.#lastClientNumber += 1;
    const number = this.#lastClientNumber;
    const calls = this.#calls;
    let stats: ProbeStats = NO_STATS;
    let textBytes = 0;
    const expire = () => void calls.expire(number);
    const ask = async <T>(call: () => Promise<ClientAnswer<T>>): Promise<T> => {
      const answer = await this.#call(call);
      stats = answer.stats;
      if ('fault' in answer) throw toError(answer.fault);
      return answer.value;
    };
    clearTimeout(this.#idleTimer);
    this.#clients.add(number);
    void calls.open(number, { policy, userAgent, extraCa, limits });
    if (signal?.aborted) expire();
    signal?.addEventListener('abort', expire, { once: true });
    return {
      async request(request) {
        const answer = await ask(() => calls.request(number, request));
        textBytes += countTextBytes(answer);
        // The cast is safe, because the thread serialized an observation.
        return deserializeFrozen(answer, true) as Observation<HttpData>;
      },
      resolveOrigin: (origin) => ask(() => calls.resolveOrigin(number, origin)),
      stats: () => stats,
      close: () => {
        signal?.removeEventListener('abort', expire);
        void calls.close(number);
        collectSoon(MAX_BYTES_PER_CHAR * textBytes);
        this.#clients.delete(number);
        this.#startIdleTimer();
      },
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#worker.terminate();
  }

  /** Starts the timer that ends the thread if it is idle. An idle thread would hold memory. */
  #startIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    if (this.isLost || this.#clients.size > 0 || this.#pendingRejects.size > 0) return;
    const end = () => {
      this.#markLost(new Error('idle'));
      this.#worker.terminate().catch((error: unknown) => this.#onError(END_FAILED, error));
    };
    this.#idleTimer = setTimeout(end, this.#idleMs).unref();
  }

  /** Makes a call to the thread. Rejects when the thread ends, because Comlink would never settle the call. */
  async #call<T>(call: () => Promise<T>): Promise<T> {
    if (this.isLost) throw new ProbeThreadLost(new Error('ended before'));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#pendingRejects.size === 0) this.#port.ref();
    this.#pendingRejects.add(reject);
    call().then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#pendingRejects.delete(reject);
      if (this.#pendingRejects.size === 0) this.#port.unref();
      this.#startIdleTimer();
    }
  }

  #receiveNotice(message: ProbeNotice): void {
    if (message.kind === 'error') {
      this.#onError('an error on the thread that asks origins', new Error(message.error));
    }
    if (message.kind === 'saturated') this.isSaturated = message.isSaturated;
    if (message.kind === 'ready') {
      this.#resolveReady();
      // `ready()` may have started the thread without a client.
      this.#startIdleTimer();
    }
  }

  #markLost(cause: unknown): void {
    this.isLost = true;
    this.#resolveReady();
    this.isSaturated = false;
    for (const reject of this.#pendingRejects) reject(new ProbeThreadLost(cause));
    this.#pendingRejects.clear();
    this.#port.close();
  }
}
