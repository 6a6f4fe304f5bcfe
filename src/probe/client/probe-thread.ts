/** Runs the connections to origins on their own thread, so that their work delays no client of the service. */
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import type { HttpData, Observation } from '../../model/observation.ts';
import { deserializeFrozen } from '../../parse/json/transfer.ts';
import type { ProbeClient, ProbeClientOptions, ProbeStats } from './client.ts';
import {
  type ClientAnswer,
  type News,
  NO_STATS,
  type PlainOptions,
  type ProbeCalls,
  toError,
} from './messages.ts';

export type ThreadedClientOptions = PlainOptions & Pick<ProbeClientOptions, 'signal'>;

export type ProbeThread = ReturnType<typeof openProbeThread>;

export type ProbeThreadOptions = {
  /** Reports errors of the thread. If it ended, the next client starts another. */
  readonly onError?: OnError;
  /** Heap in MiB, default 512; texts of answers count, their bytes are outside of the heap. */
  readonly heapMb?: number;
  /** Milliseconds until a thread without a client ends, default 60,000. */
  readonly idleMs?: number;
  /** Default empty, because the settings of this process hold keys that the thread does not need. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default none, because flags of this process concern its entry, such as `--input-type`. */
  readonly execArgv?: readonly string[];
};

type OnError = (message: string, error: unknown) => void;

/** A failure of the scanner and never a finding: the scan ends, and no payer is charged. */
export class ProbeThreadLost extends Error {
  override readonly name = 'ProbeThreadLost';

  constructor(cause: unknown) {
    super('The thread that asks origins ended: scan again.', { cause });
  }
}

const WORKER = fileURLToPath(new URL('./probe-worker.ts', import.meta.url));
const HEAP_MB = 512;
/** Bounds the young generation, which V8 would let grow to several times this although its objects die soon. */
const YOUNG_HEAP_MB = 8;
const IDLE_MS = 60_000;
const NOT_ENDED = 'the thread that asks origins did not end';

/** Starts the thread with the first client, and again after it ended. */
export function openProbeThread(options: ProbeThreadOptions = {}) {
  let running: RunningThread | null = null;
  let isClosed = false;
  const current = (): RunningThread => {
    if (isClosed) throw new ProbeThreadLost(new Error('closed'));
    if (running === null || running.isLost) running = new RunningThread(options);
    return running;
  };
  return {
    /** Like `createProbeClient`; rejects with ProbeThreadLost when the thread ends during a request. */
    createClient: (options: ThreadedClientOptions) => current().createClient(options),
    /** True while the running scans hold as much text as they may, so that no further scan may begin. */
    isSaturated: () => running?.isSaturated ?? false,
    /** Starts the thread. Resolves once it can send requests, or has failed to start. */
    ready: () => current().ready,
    /** True while the thread runs: from the first client until some time after the last one. */
    isAlive: () => running !== null && !running.isLost,
    close: async (): Promise<void> => {
      isClosed = true;
      await running?.close();
    },
  };
}

class RunningThread {
  isLost = false;
  isSaturated = false;
  readonly ready: Promise<void>;
  readonly #tellReady: () => void;
  readonly #worker: Worker;
  /** Calls by Comlink travel by a port of their own, beside the news of the worker. */
  readonly #port: MessagePort;
  readonly #calls: Pick<Remote<ProbeCalls>, keyof ProbeCalls>;
  readonly #onError: OnError;
  /** Each rejects one call that waits. */
  readonly #waiting = new Set<(error: ProbeThreadLost) => void>();
  readonly #clients = new Set<number>();
  readonly #idleMs: number;
  #idle: NodeJS.Timeout | undefined;
  #lastNumber = 0;

  constructor(options: ProbeThreadOptions) {
    const { onError = () => undefined, heapMb = HEAP_MB, idleMs = IDLE_MS } = options;
    const { environment = {}, execArgv = [] } = options;
    this.#onError = onError;
    this.#idleMs = idleMs;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.#tellReady = ready.resolve;
    const { port1, port2 } = new MessageChannel();
    this.#worker = new Worker(WORKER, {
      name: 'probe',
      workerData: port2,
      transferList: [port2],
      env: environment,
      execArgv: [...execArgv],
      resourceLimits: {
        maxOldGenerationSizeMb: heapMb,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
      },
    });
    this.#worker.on('message', (news: News) => this.#hear(news));
    this.#worker.on('error', (error) => {
      onError('the thread that asks origins ended', error);
      this.#lose(error);
    });
    this.#worker.on('exit', (code) => this.#lose(new Error(`exit code ${code}`)));
    this.#port = port1;
    const { open, request, check, expire, close } = wrap<ProbeCalls>(port1);
    // Taken once: Comlink makes, and tracks, a new proxy each time that a member is read.
    this.#calls = { open, request, check, expire, close };
    // Running calls keep the process alive; an idle thread does not.
    this.#worker.unref();
    this.#port.unref();
  }

  createClient({ signal, policy, userAgent, extraCa, limits }: ThreadedClientOptions): ProbeClient {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const calls = this.#calls;
    let stats: ProbeStats = NO_STATS;
    const expire = () => void calls.expire(number);
    const ask = async <T>(call: () => Promise<ClientAnswer<T>>): Promise<T> => {
      const answer = await this.#call(call);
      stats = answer.stats;
      if ('fault' in answer) throw toError(answer.fault);
      return answer.value;
    };
    clearTimeout(this.#idle);
    this.#clients.add(number);
    void calls.open(number, {
      policy,
      userAgent,
      ...(extraCa ? { extraCa } : {}),
      ...(limits ? { limits } : {}),
    });
    if (signal?.aborted) expire();
    signal?.addEventListener('abort', expire, { once: true });
    return {
      async request(request) {
        const answer = await ask(() => calls.request(number, request));
        // The other thread serialized the answer of `request`.
        return deserializeFrozen(answer, true) as Observation<HttpData>;
      },
      check: (origin) => ask(() => calls.check(number, origin)),
      stats: () => stats,
      close: () => {
        signal?.removeEventListener('abort', expire);
        void calls.close(number);
        this.#clients.delete(number);
        this.#rest();
      },
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker.terminate();
  }

  /** Ends an idle thread, which would hold memory; the next client starts another. */
  #rest(): void {
    clearTimeout(this.#idle);
    if (this.isLost || this.#clients.size > 0 || this.#waiting.size > 0) return;
    const end = () => {
      this.#lose(new Error('idle'));
      this.#worker.terminate().catch((error: unknown) => this.#onError(NOT_ENDED, error));
    };
    this.#idle = setTimeout(end, this.#idleMs).unref();
  }

  /** Comlink never settles a call to a thread that has ended. */
  async #call<T>(call: () => Promise<T>): Promise<T> {
    if (this.isLost) throw new ProbeThreadLost(new Error('ended before'));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#waiting.size === 0) this.#port.ref();
    this.#waiting.add(reject);
    call().then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(reject);
      if (this.#waiting.size === 0) this.#port.unref();
      this.#rest();
    }
  }

  #hear(news: News): void {
    if (news.kind === 'error') {
      this.#onError('an error on the thread that asks origins', new Error(news.error));
    }
    if (news.kind === 'saturated') this.isSaturated = news.isSaturated;
    if (news.kind === 'ready') {
      this.#tellReady();
      this.#rest();
    }
  }

  #lose(cause: unknown): void {
    this.isLost = true;
    this.#tellReady();
    this.isSaturated = false;
    for (const reject of this.#waiting) reject(new ProbeThreadLost(cause));
    this.#waiting.clear();
    this.#port.close();
  }
}
