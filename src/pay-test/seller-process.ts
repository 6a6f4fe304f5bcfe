import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PayTestImpossible } from './result.ts';
import type { Target } from './target.ts';

export type SellerCommand = {
  /** Shell command, such as "npm start". */
  readonly command: string;
  /** Environment variables that get the facilitator's address. */
  readonly variables: readonly string[];
  readonly facilitatorUrl: string;
};

const POLL_MS = 100;
const KILL_AFTER_MS = 3_000;
const FREE_AFTER_MS = 5_000;
const MAX_SAID_CHARS = 2_000;

/** The seller of `--start`, in a process group of its own so that its children are stopped with it. */
export class SellerProcess {
  readonly #wanted: SellerCommand;
  #child: ChildProcess | null = null;
  #said = '';
  #isClosed = false;
  readonly #killNow = () => this.#signal('SIGKILL');

  constructor(wanted: SellerCommand) {
    this.#wanted = wanted;
  }

  /** Resolves once the seller listens. Throws PayTestImpossible if it ends before, or takes too long. */
  async start(target: Target, startMs: number): Promise<void> {
    const isTaken = !(await isFree(target));
    if (this.#isClosed) throw new PayTestImpossible('the pay-test was interrupted');
    if (isTaken) {
      throw new PayTestImpossible(
        `${target.origin}: something listens there already; stop it, or leave --start out`,
      );
    }
    const { command, variables, facilitatorUrl } = this.#wanted;
    const addresses = Object.fromEntries(variables.map((name) => [name, facilitatorUrl]));
    const child = spawn(command, {
      shell: true,
      detached: process.platform !== 'win32',
      env: { ...process.env, ...addresses },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    process.once('exit', this.#killNow);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#said = (this.#said + chunk.toString('utf8')).slice(-MAX_SAID_CHARS);
      });
    }
    const until = performance.now() + startMs;
    while (!(await isListening(target))) {
      if (this.hasEnded) throw this.#impossible(`"${command}" ended before it listened`);
      if (performance.now() > until) {
        throw this.#impossible(`"${command}" did not listen on ${target.origin} in time`);
      }
      await pause(POLL_MS);
    }
  }

  get hasEnded(): boolean {
    return this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Stops the seller and refuses later starts. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.stop();
  }

  /** Ends the process group by SIGTERM, then by SIGKILL. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = this.hasEnded ? Promise.resolve() : once(child, 'exit');
    this.#signal('SIGTERM');
    const late = setTimeout(() => this.#signal('SIGKILL'), KILL_AFTER_MS);
    await ended;
    clearTimeout(late);
    // The children may outlive their parent.
    this.#signal('SIGKILL');
    process.off('exit', this.#killNow);
    this.#child = null;
  }

  #signal(name: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, name);
    } catch {
      // The group has ended already.
    }
  }

  #impossible(what: string): PayTestImpossible {
    const said = this.#said.trim().split('\n');
    const lines =
      said.findLast((line) => /error/i.test(line))?.trim() ?? said.slice(-2).join(' | ');
    return new PayTestImpossible(lines === '' ? what : `${what}: ${lines}`);
  }
}

/** Waits a few seconds for a listener that was told to end. */
async function isFree(target: Target): Promise<boolean> {
  const until = performance.now() + FREE_AFTER_MS;
  while (await isListening(target)) {
    if (performance.now() > until) return false;
    await pause(POLL_MS);
  }
  return true;
}

/** True if the seller's address takes a connection. */
export function isListening({ addresses: [{ address }], port }: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 2_000 });
    const end = (listens: boolean) => {
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
