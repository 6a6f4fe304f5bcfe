/** The processes of the census, and the clock that they share. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FromInstance, InstanceOptions, ToInstance } from './messages.ts';

const INSTANCE = fileURLToPath(new URL('instance.ts', import.meta.url));

export type Clock = { nowMs: number };

/** An instance was killed before it answered. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

export class Instance {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #exited: Promise<unknown>;
  #answer = Promise.withResolvers<FromInstance>();
  #isKilled = false;
  /** Called with each owner whose wish is stored. */
  onLeft: (host: string) => void = () => undefined;

  static async start(options: InstanceOptions, clock: Clock): Promise<Instance> {
    const instance = new Instance(options, clock);
    await instance.#next();
    return instance;
  }

  private constructor(options: InstanceOptions, clock: Clock) {
    this.#clock = clock;
    this.#child = fork(INSTANCE, [JSON.stringify(options)], {
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'x402-census-compile-cache') },
    });
    this.#exited = once(this.#child, 'exit');
    this.#child.on('message', (message: FromInstance) => this.#hear(message));
    this.#child.once('exit', (code, signal) => {
      const error = this.#isKilled
        ? new Killed()
        : new Error(`an instance ended: ${code ?? signal}`);
      this.#answer.reject(error);
    });
    this.#answer.promise.catch(() => undefined);
  }

  /** Resolves to the answer; rejects with Killed if `kill` comes first. */
  async ask(message: ToInstance): Promise<FromInstance> {
    this.#answer = Promise.withResolvers<FromInstance>();
    this.#answer.promise.catch(() => undefined);
    if (this.#isKilled) throw new Killed();
    this.#child.send(message);
    return this.#next();
  }

  /** Stores the wish of an owner while another message is being answered. */
  leave(host: string): void {
    if (this.#child.connected) this.#child.send({ kind: 'leave', host });
  }

  #next(): Promise<FromInstance> {
    return this.#answer.promise;
  }

  #hear(message: FromInstance): void {
    if (message.kind === 'left') {
      this.onLeft(message.host);
      return;
    }
    if (message.kind !== 'wait') {
      this.#answer.resolve(message);
      return;
    }
    this.#clock.nowMs += message.ms;
    if (this.#child.connected) this.#child.send({ kind: 'moved', nowMs: this.#clock.nowMs });
  }

  /** SIGKILL, at once. */
  kill(): void {
    this.#isKilled = true;
    this.#child.kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.kill();
    await this.#exited;
  }
}
