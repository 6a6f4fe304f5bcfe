import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readMembers } from '../../scanner/model/json.ts';
import {
  judgePayment,
  listEvmNames,
  listEvmNetworks,
  type Members,
  readNonce,
} from './judge-payment.ts';
import { Ledger, type Step } from './ledger.ts';
import { parseJsonBody } from './replies.ts';
import { readUpTo } from './seller-client.ts';

/** `refuse`, `pending-once` and `pending` are valid answers. All other faults are failures of the facilitator. */
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

/** Holds back the answers of verify to one payment until enough calls have arrived. */
type Barrier = {
  missingCalls: number;
  readonly whenOpen: Promise<void>;
  readonly open: () => void;
  readonly timer: NodeJS.Timeout;
};

const MAX_BODY_BYTES = 1024 * 1024;
const SUPPORTED_EXTENSIONS = ['bazaar'];
/** `invalidReason` and `errorReason` of the fault `refuse`. */
export const REFUSAL_REASON = 'insufficient_funds';

/** Facilitator of x402 versions 1 and 2 without a blockchain. It fails only for payments passed to `misbehave`. */
export class TestFacilitator {
  readonly ledger = new Ledger();
  readonly #options: FacilitatorOptions;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });
  readonly #faults = new Map<string, FacilitatorFault>();
  readonly #barriers = new Map<string, Barrier>();
  readonly #noncesWithExtensions = new Set<string>();
  /** Random text in EXTENSION-RESPONSES. If a seller's answer contains it, the seller has passed the header on. */
  readonly mark = randomBytes(12).toString('hex');
  readonly #silenceTimers = new Set<NodeJS.Timeout>();
  #supportedCallCount = 0;

  constructor(options: FacilitatorOptions) {
    this.#options = options;
  }

  /** Rejects if this process cannot listen on the address. */
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

  get supportedCallCount(): number {
    return this.#supportedCallCount;
  }

  misbehave(step: Step, nonce: string, fault: FacilitatorFault): void {
    this.#faults.set(`${step} ${nonce}`, fault);
  }

  /** Adds an EXTENSION-RESPONSES header to the answers about one payment. */
  addExtensionResponses(nonce: string): void {
    this.#noncesWithExtensions.add(nonce);
  }

  /** Value of the header: base64 of JSON, as in section 7.2.1 of the specification of version 2. */
  get extensionResponses(): string {
    const responses = { bazaar: { status: 'processing', reason: this.mark } };
    return Buffer.from(JSON.stringify(responses)).toString('base64');
  }

  /** Delays the answers of verify to one payment until `count` calls arrived, or `ms` have passed. */
  holdVerify(nonce: string, count: number, ms: number): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#barriers.set(nonce, { missingCalls: count, whenOpen: promise, open: resolve, timer });
  }

  async #waitForBarrier(nonce: string): Promise<void> {
    const barrier = this.#barriers.get(nonce);
    if (barrier === undefined) return;
    barrier.missingCalls -= 1;
    if (barrier.missingCalls <= 0) barrier.open();
    await barrier.whenOpen;
    clearTimeout(barrier.timer);
  }

  async close(): Promise<void> {
    for (const { timer } of this.#barriers.values()) clearTimeout(timer);
    for (const timer of this.#silenceTimers) clearTimeout(timer);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0]?.replace(/\/+$/, '') ?? '';
    if (request.method === 'GET' && path.endsWith('/supported')) {
      this.#supportedCallCount += 1;
      return sendJson(response, 200, this.#describeSupport());
    }
    const step = (['verify', 'settle'] as const).find((name) => path.endsWith(`/${name}`));
    if (step === undefined || request.method !== 'POST') return sendJson(response, 404, {});
    const body = readMembers(parseJsonBody(await readUpTo(request, MAX_BODY_BYTES)));
    const payload = readMembers(body['paymentPayload']);
    const requirements = readMembers(body['paymentRequirements']);
    const nonce = readNonce(payload);
    const fault = this.#faults.get(`${step} ${nonce}`) ?? null;
    const answer = await this.#answerStep(step, payload, requirements, fault);
    if (step === 'verify') await this.#waitForBarrier(nonce);
    if (this.#noncesWithExtensions.has(nonce)) {
      response.setHeader('EXTENSION-RESPONSES', this.extensionResponses);
    }
    this.#send(response, answer, fault);
  }

  async #answerStep(
    step: Step,
    payload: Members,
    requirements: Members,
    fault: FacilitatorFault | null,
  ): Promise<object> {
    const { nonce, payer, reason: realRefusal } = await judgePayment({ payload, requirements });
    const refusal = realRefusal ?? (fault === 'refuse' ? REFUSAL_REASON : null);
    const reason = this.#decide(step, nonce, refusal, fault);
    this.ledger.record({ step, nonce, payload, requirements, reason });
    // JSON omits members that are undefined.
    const errorReason = reason ?? undefined;
    if (step === 'verify') return { isValid: reason === null, invalidReason: errorReason, payer };
    const hasTransaction = reason === null || reason === 'settlement_pending';
    const transaction = hasTransaction ? this.ledger.getTransaction(nonce) : '';
    const { network } = requirements;
    return { success: reason === null, errorReason, transaction, network, payer };
  }

  /** Returns the reason of the answer; null if verify finds the payment good, or if it is settled now. */
  #decide(
    step: Step,
    nonce: string,
    refusal: string | null,
    fault: FacilitatorFault | null,
  ): string | null {
    if (step === 'verify') return this.ledger.isSettled(nonce) ? 'nonce_already_used' : refusal;
    if (refusal !== null) return refusal;
    // The ledger does not hold this call yet.
    const isFirstCall = !this.ledger.hasCall(nonce, 'settle');
    if (fault === 'pending' || (fault === 'pending-once' && isFirstCall))
      return 'settlement_pending';
    return this.ledger.settle(nonce) ? null : 'nonce_already_used';
  }

  #send(response: ServerResponse, answer: object, fault: FacilitatorFault | null): void {
    if (fault === 'error') sendJson(response, 500, { error: 'internal_error' });
    else if (fault === 'hang-up') response.destroy();
    else if (fault === 'garbage') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('<html>{"isVal');
    } else if (fault === 'silence') this.#hangUpLater(response);
    else sendJson(response, 200, answer);
  }

  #hangUpLater(response: ServerResponse): void {
    const timer = setTimeout(() => {
      this.#silenceTimers.delete(timer);
      response.destroy();
    }, this.#options.silenceMs);
    this.#silenceTimers.add(timer);
  }

  #describeSupport(): object {
    const { networks } = this.#options;
    const scheme = 'exact';
    const kinds = [
      ...listEvmNetworks(networks).map((network) => ({ x402Version: 2, scheme, network })),
      ...listEvmNames(networks).map((network) => ({ x402Version: 1, scheme, network })),
    ];
    return { kinds, extensions: SUPPORTED_EXTENSIONS, signers: {} };
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
