/** Runs the connections to origins on their own thread, so that their work delays no client of the service. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { HttpData, Observation } from '../../model/observation.ts';
import { deserializeFrozen } from '../../parse/json/transfer.ts';
import type { ProbeClient, ProbeClientOptions, ProbeStats } from './client.ts';
import { type CallResult, type FromProbe, NO_STATS, type ToProbe, toError } from './messages.ts';

/** Without resolver, connector and clock, because functions cannot be sent to another thread. */
export type ThreadedClientOptions = Pick<
  ProbeClientOptions,
  'policy' | 'userAgent' | 'signal' | 'extraCa' | 'limits'
>;

export type ProbeThread = {
  /** Like `createProbeClient`; rejects with ProbeThreadLost when the thread ends during a request. */
  readonly createClient: (options: ThreadedClientOptions) => ProbeClient;
  /** True while the running scans hold as much text as they may, so that no further scan may begin. */
  isSaturated(): boolean;
  /** Starts the thread. Resolves once it can send requests, or has failed to start. */
  ready(): Promise<void>;
  /** True while the thread runs: from the first client until some time after the last one. */
  isAlive(): boolean;
  close(): Promise<void>;
};

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
export function openProbeThread(options: ProbeThreadOptions = {}): ProbeThread {
  let running: RunningThread | null = null;
  let isClosed = false;
  const current = (): RunningThread => {
    if (isClosed) throw new ProbeThreadLost(new Error('closed'));
    if (running === null || running.isLost) running = new RunningThread(options);
    return running;
  };
  return {
    createClient: (options) => current().createClient(options),
    isSaturated: () => running?.isSaturated ?? false,
    ready: () => current().ready,
    isAlive: () => running !== null && !running.isLost,
    close: async () => {
      isClosed = true;
      await running?.close();
    },
  };
}

type Call = {
  readonly client: RemoteClient;
  readonly settle: PromiseWithResolvers<CallResult>;
};

class RunningThread {
  isLost = false;
  isSaturated = false;
  readonly ready: Promise<void>;
  readonly #tellReady: () => void;
  readonly #worker: Worker;
  readonly #onError: OnError;
  readonly #calls = new Map<number, Call>();
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
    this.#worker = new Worker(WORKER, {
      name: 'probe',
      env: environment,
      execArgv: [...execArgv],
      resourceLimits: {
        maxOldGenerationSizeMb: heapMb,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
      },
    });
    this.#worker.on('message', (message: FromProbe) => this.#hear(message));
    this.#worker.on('error', (error) => {
      onError('the thread that asks origins ended', error);
      this.#lose(error);
    });
    this.#worker.on('exit', (code) => this.#lose(new Error(`exit code ${code}`)));
    // Running calls keep the process alive; an idle thread does not.
    this.#worker.unref();
  }

  createClient({ signal, policy, userAgent, extraCa, limits }: ThreadedClientOptions): ProbeClient {
    const number = this.#next();
    const options = {
      policy,
      userAgent,
      ...(extraCa ? { extraCa } : {}),
      ...(limits ? { limits } : {}),
    };
    clearTimeout(this.#idle);
    this.#clients.add(number);
    this.#tell({ kind: 'open', client: number, options });
    return new RemoteClient(number, signal, {
      tell: (message) => this.#tell(message),
      call: (client, toMessage) => this.#call(client, toMessage),
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker.terminate();
  }

  #tell(message: ToProbe): void {
    if (!this.isLost) this.#worker.postMessage(message);
    if (message.kind !== 'close') return;
    this.#clients.delete(message.client);
    this.#rest();
  }

  /** Ends an idle thread, which would hold memory; the next client starts another. */
  #rest(): void {
    clearTimeout(this.#idle);
    if (this.isLost || this.#clients.size > 0 || this.#calls.size > 0) return;
    const end = () => {
      this.#lose(new Error('idle'));
      this.#worker.terminate().catch((error: unknown) => this.#onError(NOT_ENDED, error));
    };
    this.#idle = setTimeout(end, this.#idleMs).unref();
  }

  #call(client: RemoteClient, toMessage: (call: number) => ToProbe): Promise<CallResult> {
    if (this.isLost) return Promise.reject(new ProbeThreadLost(new Error('ended before')));
    const number = this.#next();
    const settle = Promise.withResolvers<CallResult>();
    if (this.#calls.size === 0) this.#worker.ref();
    this.#calls.set(number, { client, settle });
    this.#tell(toMessage(number));
    return settle.promise;
  }

  #hear(message: FromProbe): void {
    if (message.kind === 'ready') {
      this.#tellReady();
      this.#rest();
      return;
    }
    if (message.kind === 'saturated') {
      this.isSaturated = message.isSaturated;
      return;
    }
    if (message.kind === 'error') {
      this.#onError('an error on the thread that asks origins', new Error(message.error));
      return;
    }
    const call = this.#calls.get(message.call);
    if (call === undefined) return;
    this.#calls.delete(message.call);
    if (this.#calls.size === 0) this.#worker.unref();
    this.#rest();
    call.client.lastStats = message.stats;
    call.settle.resolve(message.result);
  }

  #lose(cause: unknown): void {
    this.isLost = true;
    this.#tellReady();
    this.isSaturated = false;
    for (const { settle } of this.#calls.values()) settle.reject(new ProbeThreadLost(cause));
    this.#calls.clear();
  }

  #next(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }
}

type Line = {
  readonly tell: (message: ToProbe) => void;
  readonly call: (
    client: RemoteClient,
    toMessage: (call: number) => ToProbe,
  ) => Promise<CallResult>;
};

/** Proxy of a client on the other thread. */
class RemoteClient implements ProbeClient {
  /** Values at the last answer. */
  lastStats = NO_STATS;
  readonly #number: number;
  readonly #signal: AbortSignal | undefined;
  readonly #line: Line;
  readonly #expire = () => this.#line.tell({ kind: 'expire', client: this.#number });

  constructor(number: number, signal: AbortSignal | undefined, line: Line) {
    this.#number = number;
    this.#signal = signal;
    this.#line = line;
    if (signal?.aborted) this.#expire();
    signal?.addEventListener('abort', this.#expire, { once: true });
  }

  async request(request: Parameters<ProbeClient['request']>[0]) {
    const client = this.#number;
    const result = await this.#line.call(this, (call) => ({
      kind: 'request',
      client,
      call,
      request,
    }));
    // The other thread serialized the answer of `request`.
    if (result.kind === 'seen') return deserializeFrozen(result.seen) as Observation<HttpData>;
    throw unexpected(result);
  }

  async check(origin: Parameters<ProbeClient['check']>[0]) {
    const client = this.#number;
    const result = await this.#line.call(this, (call) => ({ kind: 'check', client, call, origin }));
    if (result.kind === 'resolved') return result.resolution;
    throw unexpected(result);
  }

  stats(): ProbeStats {
    return this.lastStats;
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#expire);
    this.#line.tell({ kind: 'close', client: this.#number });
  }
}

function unexpected(result: CallResult): Error {
  return result.kind === 'fault' ? toError(result.fault) : new Error(`a ${result.kind} instead`);
}
