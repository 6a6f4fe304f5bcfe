/** The real service in a process of its own. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { freePort } from '../fixtures/service/free-port.ts';
import { TERMS } from '../service/payment/payer.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const FAILPOINTS = new URL('../fixtures/failpoints.ts', import.meta.url).href;
/** Begins the last line that an instance prints before it takes requests, see `src/main.ts`. */
const READY = 'Catalog: ';

export type Settings = Readonly<Record<string, string>>;

export type InstanceAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The members of a JSON body; empty for any other. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Transaction of a paid 200; null otherwise. */
  readonly transaction: string | null;
};

/** The service as `npm start` runs it. */
export type InstanceProcess = {
  readonly url: string;
  readonly pid: number | undefined;
  /** The exit code; null if a signal ended it. */
  readonly exited: Promise<number | null>;
  out(): string;
  err(): string;
  get(path: string, headers?: Settings): Promise<InstanceAnswer>;
  post(
    path: string,
    body: object,
    headers?: Settings,
    signal?: AbortSignal,
  ): Promise<InstanceAnswer>;
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** True if the process is stopped, for example by SIGSTOP. */
  isStopped(): boolean;
  /** Stops it, as a machine does that is too busy; `wake` lets it go on. */
  pause(): void;
  wake(): void;
};

/** Does not wait for anything: for instances that are expected not to start, too. */
export async function launchInstance(settings: Settings): Promise<InstanceProcess> {
  const port = await freePort();
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    ['--import', FAILPOINTS, MAIN],
    {
      env: {
        PATH: process.env['PATH'],
        PORT: String(port),
        // Instances on one store must agree on it.
        BASE_URL: 'http://scanner.test',
        PAY_TO: TERMS.payTo,
        X402SCAN_URL: '',
        BAZAAR_URL: '',
        ECOSYSTEM_URL: '',
        LOG_LEVEL: 'silent',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  // No instance may outlive a run that ends without stopping it.
  const atExit = () => child.kill('SIGKILL');
  process.once('exit', atExit);
  const out = gather(child.stdout);
  const err = gather(child.stderr);
  const exited = once(child, 'close').then(([code]) => {
    process.off('exit', atExit);
    return typeof code === 'number' ? code : null;
  });
  const url = `http://127.0.0.1:${port}`;

  return {
    url,
    pid: child.pid,
    exited,
    out,
    err,
    get: (path, headers = {}) => ask(url + path, { headers }),
    post: (path, body, headers = {}, signal) =>
      ask(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal ? { signal } : {}),
      }),
    isStopped: () => /^State:\s+T/m.test(statusOf(child.pid)),
    pause: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      await exited;
    },
  };
}

/** Listens when this resolves; rejects with what it said if it ends before. */
export async function startInstance(settings: Settings): Promise<InstanceProcess> {
  const instance = await launchInstance(settings);
  let isOver = false;
  const ended = instance.exited.then((code) => {
    isOver = true;
    return code;
  });
  while (!instance.out().includes(READY)) {
    if (isOver)
      throw new Error(`the instance ended with ${await ended}: ${instance.out()}${instance.err()}`);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  return instance;
}

/** A facilitator that answered too late at the start is asked again later; until then nothing is sold. */
export async function untilSelling(instance: InstanceProcess): Promise<InstanceProcess> {
  while ((await instance.post('/v1/scan', {})).status !== 402) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return instance;
}

/** Returns the kernel's status of a process; '' if the process has ended. */
function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

function gather(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  return () => text;
}

async function ask(url: string, init: RequestInit): Promise<InstanceAnswer> {
  const response = await fetch(url, init);
  const body = await response.text();
  const paid = response.status === 200 ? response.headers.get('payment-response') : null;
  const settlement = paid === null ? {} : jsonOf(Buffer.from(paid, 'base64').toString());
  const transaction = settlement['transaction'];
  return {
    status: response.status,
    headers: response.headers,
    body,
    json: jsonOf(body),
    transaction: typeof transaction === 'string' ? transaction : null,
  };
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
