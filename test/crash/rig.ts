/** A service that dies and is started again, and its payers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TERMS } from '../service/payment/payer.ts';
import { askTool } from './ask-tool.ts';
import type { Call, Payment } from './call.ts';
import type { Arm, Ask, ChildMessage } from './child.ts';
import { type SettlementRecord, startSettlementRecord } from './settlement-record.ts';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
export const PRICE = 50_000n;
const QUIET_WITHIN_MS = 60_000;

/** A client buys a scan by its route or by its MCP tool. */
export type Way = 'route' | 'mcp';

/** A service that dies and is started again on the same file, and everything that was asked of it. */
export class Rig implements AsyncDisposable {
  readonly calls: Call[] = [];
  readonly #folder: string;
  readonly #record: SettlementRecord;
  #child: ChildProcess | null = null;
  #url = '';
  starts = 0;
  /** The way of the next purchases. */
  way: Way = 'route';

  private constructor(folder: string, record: SettlementRecord) {
    this.#folder = folder;
    this.#record = record;
  }

  static async open(): Promise<Rig> {
    const folder = await mkdtemp(join(tmpdir(), 'crash-'));
    const rig = new Rig(folder, await startSettlementRecord());
    await rig.start();
    return rig;
  }

  get record(): SettlementRecord {
    return this.#record;
  }

  get url(): string {
    return this.#url;
  }

  get storeUrl(): string {
    return `sqlite:${join(this.#folder, 'scanner.db')}`;
  }

  async start(): Promise<void> {
    const child = fork(CHILD, [], {
      env: {
        ...process.env,
        NODE_ENV: 'test',
        STORE_URL: this.storeUrl,
        BASE_URL: 'https://api.scanner.example',
        PAYMENT_MODE: 'facilitator',
        FACILITATOR_URL: this.#record.url,
        PAY_TO: TERMS.payTo,
        RATE_LIMIT: 'off',
        LOG_LEVEL: 'silent',
        // A child lives for a second or two: compiling its modules anew would take most of that.
        NODE_COMPILE_CACHE: join(tmpdir(), 'x402-crash-compile-cache'),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    this.starts += 1;
    const [message] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`the child ended with ${code} before it listened`);
      }),
    ])) as [ChildMessage];
    if (!('listening' in message))
      throw new Error('the child said something else than its address');
    this.#url = message.listening;
  }

  async arm(arm: Arm): Promise<void> {
    const child = this.#living();
    const armed = once(child, 'message');
    child.send(arm);
    await armed;
  }

  /** Resolves when no payment is open any more: what was in doubt is settled, or ended. */
  async quiet(): Promise<void> {
    const child = this.#living();
    const endMs = Date.now() + QUIET_WITHIN_MS;
    for (;;) {
      const reply = once(child, 'message');
      child.send({ ask: 'open' } satisfies Ask);
      const [message] = (await reply) as [ChildMessage];
      if ('open' in message && message.open === 0) return;
      if (Date.now() > endMs) throw new Error('payments stay open');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Resolves when the child has died of its failpoint. */
  async died(): Promise<void> {
    const child = this.#living();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    if (child.signalCode !== 'SIGKILL') throw new Error('the child did not die of its failpoint');
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  get isDead(): boolean {
    return this.#child?.signalCode !== null || this.#child.exitCode !== null;
  }

  /** Never rejects: a broken connection is a result, and the one that matters here. */
  async scan(payment: Payment, host = payment.host, signal?: AbortSignal): Promise<Call> {
    const call = await this.#ask(payment, host, signal);
    if (host === payment.host) this.calls.push(call);
    return call;
  }

  /** Kills the child and deletes its files at once. For a process that ends now and cannot await disposal. */
  end(): void {
    this.#child?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#record[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #ask(payment: Payment, host: string, signal?: AbortSignal): Promise<Call> {
    const nothing = { body: '', error: null, isRedelivered: false, transaction: null };
    try {
      if (this.way === 'mcp') return await askTool(this.#url, payment, host, signal);
      const response = await fetch(`${this.#url}/v1/scan`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'payment-signature': payment.signed.header,
        },
        body: JSON.stringify({ url: host }),
        ...(signal ? { signal } : {}),
      });
      const body = await response.text();
      const { status, headers } = response;
      const settlement = headers.get('payment-response');
      return {
        payment,
        status,
        body,
        error: status === 200 ? null : String(JSON.parse(body).error),
        isRedelivered: headers.get('x-redelivered') === '1',
        transaction:
          status === 200 && settlement !== null
            ? String(JSON.parse(Buffer.from(settlement, 'base64').toString()).transaction)
            : null,
      };
    } catch {
      return { payment, status: 0, ...nothing };
    }
  }

  #living(): ChildProcess {
    if (this.#child === null) throw new Error('the rig was not started');
    return this.#child;
  }
}
