/** Starts a program of this folder in a new process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { RacerOrder } from './mongo-races.ts';

/** A second process on the same database, joined and ready. */
export class OtherProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(url: string): Promise<OtherProcess> {
    const child = fork(join(import.meta.dirname, 'mongo-racer.ts'), [url]);
    const other = new OtherProcess(child);
    await other.#message();
    return other;
  }

  /** The answer, when it has one. */
  async tell(order: RacerOrder): Promise<number> {
    this.#child.send(order);
    return Number(await this.#message());
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }

  async #message(): Promise<unknown> {
    const ended = new AbortController();
    try {
      return await Promise.race([
        once(this.#child, 'message', { signal: ended.signal }).then(([message]) => message),
        once(this.#child, 'exit', { signal: ended.signal }).then(() => {
          throw new Error('the other process ended');
        }),
      ]);
    } finally {
      ended.abort();
    }
  }
}
