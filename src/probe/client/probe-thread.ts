/** Runs the sockets to origins on a thread of their own, so that no client of the service waits for their work. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { HttpData, Observation } from '../../model/observation.ts';
import { deserializeFrozen } from '../../parse/json/transfer.ts';
import type { ProbeClient, ProbeClientOptions, ProbeStats } from './client.ts';
import { type CallResult, type FromProbe, NO_STATS, type ToProbe, toError } from './messages.ts';

/** Resolver, connector and clock are functions, which stay on the thread that made them. */
export type ThreadedClientOptions = Pick<
  ProbeClientOptions,
  'policy' | 'userAgent' | 'signal' | 'extraCa' | 'limits'
>;

export type ProbeThread = {
  /** As `createProbeClient`; a thread that ended in the middle rejects with ProbeThreadLost. */
  readonly createClient: (options: ThreadedClientOptions) => ProbeClient;
  /** Whether the running scans hold all the text that they may: no further one is to begin. */
  isSaturated(): boolean;
  /** Boots the thread where it is not there: resolves once it would ask at once, or never will. */
  ready(): Promise<void>;
  /** Whether the thread is there: not before the first client, nor a while after the last one. */
  isAlive(): boolean;
  close(): Promise<void>;
};

export type ProbeThreadOptions = {
  /** Told what went wrong over there; where the thread ended of it, the next client starts another. */
  readonly onError?: OnError;
  /** Default 512: texts of answers pass through, and their bytes lie outside of it. */
  readonly heapMb?: number;
  /** Until a thread without a client ends, default 60,000. */
  readonly idleMs?: number;
  /** Default empty: settings of this process hold keys, and no answer has any use for them. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default none: flags of this process are about its entry, such as `--input-type`. */
  readonly execArgv?: readonly string[];
};

type OnError = (message: string, error: unknown) => void;

/** Our own fault, never a finding: the scan cannot go on, and no payer may be charged. */
export class ProbeThreadLost extends Error {
  override readonly name = 'ProbeThreadLost';

  constructor(cause: unknown) {
    super('The thread that asks origins ended: scan again.', { cause });
  }
}

const WORKER = fileURLToPath(new URL('./probe-worker.ts', import.meta.url));
const HEAP_MB = 512;
/** V8 would let it grow to several times that, and keep it: what is new here is soon gone. */
const YOUNG_HEAP_MB = 8;
const IDLE_MS = 60_000;
const NOT_ENDED = 'the thread that asks origins did not end';

/** Starts the thread with the first client, or anew after it ended. */
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
    // Calls hold the process open while they run, an idle thread does not.
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

  /** A thread that only rests holds memory, and the next client starts another. */
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

/** A client on the other thread, as this one sees it. */
class RemoteClient implements ProbeClient {
  /** As of the last answer. */
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
    // What `request` of the other thread answered, serialized there.
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
