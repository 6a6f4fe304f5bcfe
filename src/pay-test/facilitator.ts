import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { judgePayment, readNonce, toMembers } from './judge-payment.ts';
import { Ledger, type Step } from './ledger.ts';
import { evmNames, evmNetworks } from './networks.ts';
import { jsonOf } from './replies.ts';

/** `refuse` and those that begin with `pending` are valid answers; the others are failures of the facilitator. */
export type FacilitatorFault =
  | 'refuse'
  | 'pending-once'
  | 'pending'
  | 'error'
  | 'hang-up'
  | 'garbage'
  | 'silence';

export type FacilitatorOptions = {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Networks to support in addition to the known ones. */
  readonly networks: readonly string[];
  readonly silenceMs: number;
};

type Barrier = {
  left: number;
  readonly lifted: Promise<void>;
  readonly lift: () => void;
  readonly timer: NodeJS.Timeout;
};

const MAX_BODY_BYTES = 1024 * 1024;
const EXTENSIONS = ['bazaar'];
/** `invalidReason` and `errorReason` of the fault `refuse`. */
export const REFUSED = 'insufficient_funds';

/** Facilitator of x402 versions 1 and 2 without a chain. It fails for the payments that `misbehave` names. */
export class TestFacilitator {
  readonly ledger = new Ledger();
  readonly #options: FacilitatorOptions;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });
  readonly #faults = new Map<string, FacilitatorFault>();
  readonly #barriers = new Map<string, Barrier>();
  readonly #extended = new Set<string>();
  /** Text in EXTENSION-RESPONSES that nothing else holds. */
  readonly mark = randomBytes(12).toString('hex');
  readonly #silent = new Set<NodeJS.Timeout>();
  #supportedAsked = 0;

  constructor(options: FacilitatorOptions) {
    this.#options = options;
  }

  /** Rejects if the address cannot be listened on. */
  async listen(): Promise<void> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve());
    });
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on TCP
    const { host } = this.#options;
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Number of requests for `/supported`. */
  get supportedAsked(): number {
    return this.#supportedAsked;
  }

  misbehave(step: Step, nonce: string, fault: FacilitatorFault): void {
    this.#faults.set(`${step} ${nonce}`, fault);
  }

  /** Adds an EXTENSION-RESPONSES header to the answers about one payment. */
  extendAnswers(nonce: string): void {
    this.#extended.add(nonce);
  }

  /** Base64 of JSON, as in version 2 of the specification, section 7.2.1. */
  get extensionResponses(): string {
    const responses = { bazaar: { status: 'processing', reason: this.mark } };
    return Buffer.from(JSON.stringify(responses)).toString('base64');
  }

  /** Delays the answers of verify to one payment until `count` calls arrived, or `ms` have passed. */
  holdVerify(nonce: string, count: number, ms: number): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#barriers.set(nonce, { left: count, lifted: promise, lift: resolve, timer });
  }

  async #waitForBarrier(nonce: string): Promise<void> {
    const barrier = this.#barriers.get(nonce);
    if (barrier === undefined) return;
    barrier.left -= 1;
    if (barrier.left <= 0) barrier.lift();
    await barrier.lifted;
    clearTimeout(barrier.timer);
  }

  async close(): Promise<void> {
    for (const { timer } of this.#barriers.values()) clearTimeout(timer);
    for (const timer of this.#silent) clearTimeout(timer);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0]?.replace(/\/+$/, '') ?? '';
    if (request.method === 'GET' && path.endsWith('/supported')) {
      this.#supportedAsked += 1;
      return send(response, 200, this.#supported());
    }
    const step = (['verify', 'settle'] as const).find((name) => path.endsWith(`/${name}`));
    if (step === undefined || request.method !== 'POST') return send(response, 404, {});
    const body = toMembers(await readJson(request));
    const payload = toMembers(body['paymentPayload']);
    const requirements = toMembers(body['paymentRequirements']);
    const nonce = readNonce(payload);
    const fault = this.#faults.get(`${step} ${nonce}`) ?? null;
    const answer = await this.#answerStep(step, payload, requirements, fault);
    if (step === 'verify') await this.#waitForBarrier(nonce);
    if (this.#extended.has(nonce)) {
      response.setHeader('EXTENSION-RESPONSES', this.extensionResponses);
    }
    this.#deliver(response, answer, fault);
  }

  async #answerStep(
    step: Step,
    payload: Readonly<Record<string, unknown>>,
    requirements: Readonly<Record<string, unknown>>,
    fault: FacilitatorFault | null,
  ): Promise<object> {
    const judged = await judgePayment({ payload, requirements });
    const { nonce } = judged;
    const isRefused = 'reason' in judged || fault === 'refuse';
    const why = 'reason' in judged ? judged.reason : REFUSED;
    const payer = 'payer' in judged ? judged.payer : undefined;
    if (step === 'verify') {
      const isUsed = this.ledger.settled(nonce) !== null;
      const isGood = !isRefused && !isUsed;
      this.ledger.record({ step, nonce, payload, requirements, isGood });
      return isGood
        ? { isValid: true, payer }
        : { isValid: false, invalidReason: isUsed ? 'nonce_already_used' : why, payer };
    }
    const isPending = !isRefused && this.#isPending(nonce, fault);
    const amount = 'amount' in judged ? judged.amount : '';
    const settled = isRefused || isPending ? null : this.ledger.settle(nonce, amount);
    this.ledger.record({ step, nonce, payload, requirements, isGood: settled !== null });
    const common = { network: requirements['network'], payer };
    if (settled !== null) return { success: true, transaction: settled.transaction, ...common };
    const errorReason = isPending ? 'settlement_pending' : isRefused ? why : 'nonce_already_used';
    const transaction = isPending ? this.ledger.transactionOf(nonce) : '';
    return { success: false, errorReason, transaction, ...common };
  }

  #isPending(nonce: string, fault: FacilitatorFault | null): boolean {
    if (fault === 'pending-once') return this.ledger.calls(nonce, 'settle').length === 0;
    return fault === 'pending';
  }

  #deliver(response: ServerResponse, answer: object, fault: FacilitatorFault | null): void {
    if (fault === 'error') send(response, 500, { error: 'internal_error' });
    else if (fault === 'hang-up') response.destroy();
    else if (fault === 'garbage') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('<html>{"isVal');
    } else if (fault === 'silence') this.#hangUpLater(response);
    else send(response, 200, answer);
  }

  #hangUpLater(response: ServerResponse): void {
    const timer = setTimeout(() => {
      this.#silent.delete(timer);
      response.destroy();
    }, this.#options.silenceMs);
    this.#silent.add(timer);
  }

  #supported(): object {
    const { networks } = this.#options;
    const kind = (x402Version: number) => (network: string) => ({
      x402Version,
      scheme: 'exact',
      network,
    });
    return {
      kinds: [...evmNetworks(networks).map(kind(2)), ...evmNames(networks).map(kind(1))],
      extensions: EXTENSIONS,
      signers: {},
    };
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    pieces.push(piece);
    size += piece.length;
    if (size > MAX_BODY_BYTES) return null;
  }
  return jsonOf(Buffer.concat(pieces));
}
