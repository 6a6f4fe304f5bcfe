import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Hex } from 'viem';

const SCRIPT = fileURLToPath(new URL('buyer.py', import.meta.url));

const Answer = Type.Object({
  status: Type.Integer(),
  /** Names in lower case. */
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String(),
});
const Failure = Type.Object({ error: Type.String() });

export interface Purchase {
  library: 'httpx' | 'requests';
  method: 'GET' | 'POST';
  url: string;
  /** Sent as JSON. */
  body?: unknown;
  privateKey: Hex;
}

export interface PythonBuyer {
  /** What the client ends up with, its payment made. One at a time; throws with what Python said. */
  buy(purchase: Purchase): Promise<Type.Static<typeof Answer>>;
  stop(): Promise<void>;
}

/**
 * A process that buys with the official `x402` package, its timeout set to 90 s as our docs show.
 * `python` is from `ensurePythonEnv()`. Starting takes seconds, so start one for many purchases.
 */
export function startPythonBuyer(python: string): PythonBuyer {
  const child = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  // Its input ends with this process, and it ends with its input.
  const exited = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async buy(purchase) {
      child.stdin.write(`${JSON.stringify(purchase)}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error('the Python buyer ended; what it said is above');
      const answer: unknown = JSON.parse(value);
      if (Value.Check(Failure, answer)) throw new Error(answer.error);
      return Value.Parse(Answer, answer);
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
}
