import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PayTestImpossible } from './result.ts';
import { type Target, throwIfOurs } from './seller-client.ts';

export type SellerCommand = {
  /** Shell command, such as "npm start". */
  readonly command: string;
  /** Environment variables that get the facilitator's address. */
  readonly variables: readonly string[];
  readonly facilitatorUrl: string;
  /** Variables of our own environment that the seller does not get. */
  readonly withheldVariables: readonly string[];
};

const POLL_MS = 100;
const KILL_DELAY_MS = 3_000;
const MAX_PORT_WAIT_MS = 5_000;
/**
 * A machine under load may drop the first packets of a connection. Systems send them again after 1, 3 and 7 seconds, so
 * a shorter limit would call a slow seller dead.
 */
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_CHARS = 2_000;

/** The seller that `--start` starts. It has its own process group, so that its child processes stop with it. */
export class SellerProcess {
  readonly #command: SellerCommand;
  #child: ChildProcess | null = null;
  #output = '';
  #isClosed = false;
  readonly #killNow = () => this.#signal('SIGKILL');

  constructor(command: SellerCommand) {
    this.#command = command;
  }

  /** Resolves when the seller listens. Throws PayTestImpossible if the seller ends first or takes too long. */
  async start(target: Target, startMs: number): Promise<void> {
    const isPortTaken = !(await waitForFreePort(target));
    if (this.#isClosed) throw new PayTestImpossible('the pay-test was interrupted');
    if (isPortTaken) {
      throw new PayTestImpossible(
        `${target.origin}: another process listens there already; stop it, or leave --start out`,
      );
    }
    const { command, variables, facilitatorUrl, withheldVariables } = this.#command;
    const addresses = Object.fromEntries(variables.map((name) => [name, facilitatorUrl]));
    const ownVariables = Object.entries(process.env).filter(
      ([name]) => !withheldVariables.includes(name),
    );
    const child = spawn(command, {
      shell: true,
      detached: process.platform !== 'win32',
      env: { ...Object.fromEntries(ownVariables), ...addresses },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    process.once('exit', this.#killNow);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString('utf8')).slice(-MAX_OUTPUT_CHARS);
      });
    }
    const deadline = performance.now() + startMs;
    while (!(await isListening(target))) {
      if (this.hasEnded) throw this.#toError(`"${command}" ended before it listened`);
      if (performance.now() > deadline) {
        throw this.#toError(`"${command}" did not listen on ${target.origin} in time`);
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
    const killTimer = setTimeout(() => this.#signal('SIGKILL'), KILL_DELAY_MS);
    await ended;
    clearTimeout(killTimer);
    // Children may outlive the seller's own process.
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

  #toError(problem: string): PayTestImpossible {
    const outputLines = this.#output.trim().split('\n');
    const excerpt =
      outputLines.findLast((line) => /error/i.test(line))?.trim() ??
      outputLines.slice(-2).join(' | ');
    return new PayTestImpossible(excerpt === '' ? problem : `${problem}: ${excerpt}`);
  }
}

/** Waits a few seconds while a process still listens. Returns false if it does not stop. */
async function waitForFreePort(target: Target): Promise<boolean> {
  const deadline = performance.now() + MAX_PORT_WAIT_MS;
  while (await isListening(target)) {
    if (performance.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}

/** True if the seller's address accepts a connection. Rejects with OurFault if this machine cannot connect. */
export async function isListening({ addresses: [{ address }], port }: Target): Promise<boolean> {
  const socket = connect({ host: address, port, timeout: CONNECT_TIMEOUT_MS });
  try {
    await Promise.race([once(socket, 'connect'), once(socket, 'timeout')]);
    return !socket.connecting;
  } catch (error) {
    throwIfOurs(error);
    return false;
  } finally {
    socket.destroy();
  }
}
