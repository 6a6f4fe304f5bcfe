import { randomBytes } from 'node:crypto';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { readMembers } from '../../scanner/model/json.ts';
import { messageOf } from '../../scanner/model/redact.ts';
import {
  judgePayment,
  type Members,
  parseChainId,
  readNonce,
  toTypedData,
} from './judge-payment.ts';
import { parseJsonBody } from './replies.ts';
import type { SellerAnswer } from './seller-client.ts';

type PaymentRequired = ReturnType<x402HTTPClient['getPaymentRequiredResponse']>;
type PaymentPayload = Awaited<ReturnType<x402HTTPClient['createPaymentPayload']>>;

/** Terms of an offer, named as in version 2. */
export type Terms = {
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** Base units. */
  readonly amount: string;
};

export type SellerChallenge = {
  readonly challenge: PaymentRequired;
  readonly version: 1 | 2;
  readonly terms: Terms;
  /** Null if no bazaar extension declares an example. */
  readonly example: Example | null;
};

/** The call that a bazaar extension declares as an example. */
export type Example = {
  readonly query: readonly (readonly [name: string, value: string])[];
  /** JSON */
  readonly body: string | null;
};

/** Terms and times to sign in place of those of the challenge. */
export type TermChanges = Partial<Terms> & {
  /** Both times are seconds from now; the default is the time that the official client sets. */
  readonly validAfterSec?: number;
  readonly validBeforeSec?: number;
};

export type Payment = {
  readonly nonce: string;
  readonly version: 1 | 2;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: PaymentPayload;
  readonly challenge: Members;
};

const MAX_WORDS_CHARS = 200;

function openWallet() {
  const account = privateKeyToAccount(generatePrivateKey());
  const client = new x402Client();
  registerExactEvmScheme(client, { signer: account });
  // By default the client refuses to pay over 1 USD. Play money needs no limit.
  client.setSpendControls(false);
  return { account, client: new x402HTTPClient(client) };
}

/**
 * Signs with the official client. Each payment has its own wallet, because a seller may refuse a wallet
 * while an earlier payment of it is in doubt.
 */
export class Payer {
  readonly #client = openWallet().client;
  readonly #refusals = new Map<string, string | null>();

  /** Signs and verifies once, because the first time in a process takes so long that a seller could time out. */
  async warmUp(): Promise<void> {
    const { account, client } = openWallet();
    const offer = {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '1',
      maxTimeoutSeconds: 60,
      asset: account.address,
      payTo: account.address,
      extra: { name: 'none', version: '1' },
    } as const;
    const challenge = { x402Version: 2, resource: { url: 'http://localhost/' }, accepts: [offer] };
    const payload = await client.createPaymentPayload(challenge);
    await judgePayment({ payload: readMembers(payload), requirements: offer });
  }

  /**
   * Returns the challenge of a 402 with its first offer that the official client signs, or the reason why a pay-test
   * cannot pay any offer.
   */
  async readPayableChallenge(answer: SellerAnswer): Promise<SellerChallenge | string> {
    const challenge = this.readChallenge(answer);
    if (challenge === null) return 'its 402 holds no challenge that the official client can read';
    const offers = challenge.accepts.filter(isCandidate);
    if (offers.length === 0) return 'no offer is exact by EIP-3009 on an eip155 network';
    const refusals: string[] = [];
    for (const offer of offers) {
      const refusal = await this.#findRefusal({ ...challenge, accepts: [offer] });
      if (refusal === null) return toSellerChallenge(challenge, offer);
      refusals.push(refusal);
    }
    return `the official client refuses its challenge: ${JSON.stringify(refusals[0])}`;
  }

  /** Resolves to the words in which the official client refuses to sign, or to null. Asks once for each offer. */
  async #findRefusal(challenge: PaymentRequired): Promise<string | null> {
    const key = JSON.stringify([challenge.x402Version, challenge.accepts]);
    const earlierRefusal = this.#refusals.get(key);
    if (earlierRefusal !== undefined) return earlierRefusal;
    const refusal = await openWallet()
      .client.createPaymentPayload(challenge)
      .then(() => null, toClientWords);
    this.#refusals.set(key, refusal);
    return refusal;
  }

  /** Returns null if the answer has no challenge that the official client can read. */
  readChallenge({ headers, body }: SellerAnswer): PaymentRequired | null {
    try {
      const challenge = this.#client.getPaymentRequiredResponse(
        (name) => headers[name.toLowerCase()] ?? null,
        parseJsonBody(body),
      );
      return Array.isArray(challenge.accepts) ? challenge : null;
    } catch {
      return null;
    }
  }

  /** Signs with a new wallet: the terms of the challenge, or `changes` in their place. Sends nothing. */
  async sign(
    { challenge, version, terms }: SellerChallenge,
    changes: TermChanges,
  ): Promise<Payment> {
    const { account, client } = openWallet();
    const basePayload = await client.createPaymentPayload(challenge);
    const isChanged = Object.keys(changes).length > 0;
    const [offer] = challenge.accepts;
    const extra = readMembers(offer?.extra);
    const newTerms = { ...terms, ...changes, extra, version };
    const payload = isChanged
      ? await signChangedTerms(account, basePayload, newTerms)
      : basePayload;
    return {
      nonce: readNonce(readMembers(payload)),
      version,
      headers: client.encodePaymentSignatureHeader(payload),
      payload,
      challenge: readMembers(challenge),
    };
  }
}

/** Signs changed terms. The payload claims that the buyer accepted these terms of the seller. */
async function signChangedTerms(
  account: ReturnType<typeof openWallet>['account'],
  payload: PaymentPayload,
  newTerms: Terms & TermChanges & { readonly extra: Members; readonly version: 1 | 2 },
): Promise<PaymentPayload> {
  const { network, asset, payTo, amount, extra, version } = newTerms;
  const { validAfterSec, validBeforeSec } = newTerms;
  const members = readMembers(payload);
  const innerPayload = readMembers(members['payload']);
  const oldAuthorization = readMembers(innerPayload['authorization']);
  const accepted = readMembers(members['accepted']);
  const nowSec = Math.floor(Date.now() / 1_000);
  const toTime = (name: 'validAfter' | 'validBefore', sec: number | undefined) =>
    String(sec === undefined ? oldAuthorization[name] : nowSec + sec);
  const authorization = {
    from: account.address,
    to: getAddress(payTo),
    value: amount,
    validAfter: toTime('validAfter', validAfterSec),
    validBefore: toTime('validBefore', validBeforeSec),
    nonce: `0x${randomBytes(32).toString('hex')}`,
  };
  const terms = { network, asset, payTo, amount };
  const signature = await account.signTypedData(toTypedData({ ...terms, extra }, authorization));
  const changedMembers = version === 1 ? { network } : { accepted: { ...accepted, ...terms } };
  // The members keep the types of the official client's payload.
  return {
    ...members,
    ...changedMembers,
    payload: { ...innerPayload, signature, authorization },
  } as unknown as PaymentPayload;
}

function toSellerChallenge(
  challenge: PaymentRequired,
  offer: PaymentRequired['accepts'][number],
): SellerChallenge {
  const { network, asset, payTo } = offer;
  const { amount, maxAmountRequired } = readMembers(offer);
  return {
    challenge: { ...challenge, accepts: [offer] },
    version: challenge.x402Version === 1 ? 1 : 2,
    terms: { network, asset, payTo, amount: String(amount || maxAmountRequired) },
    example: readExample(readMembers(challenge)),
  };
}

/** True for an offer that a pay-test could pay if the official client signs it. */
function isCandidate(offer: PaymentRequired['accepts'][number] | null): boolean {
  if (typeof offer !== 'object' || offer === null) return false;
  const { scheme, network, extra } = readMembers(offer);
  const { assetTransferMethod = 'eip3009' } = readMembers(extra);
  return (
    scheme === 'exact' &&
    typeof network === 'string' &&
    parseChainId(network) !== null &&
    assetTransferMethod === 'eip3009'
  );
}

/** The client's error on one line, without the JSON of all its settings. */
function toClientWords(error: unknown): string {
  const text = messageOf(error);
  const [sentence = ''] = text.replace(/\s+/g, ' ').split(/\.? \{"/, 1);
  return sentence.slice(0, MAX_WORDS_CHARS);
}

function readExample(challenge: Members): Example | null {
  const bazaar = readMembers(readMembers(challenge['extensions'])['bazaar']);
  const { body, queryParams } = readMembers(readMembers(bazaar['info'])['input']);
  const query = Object.entries(readMembers(queryParams)).flatMap(([name, value]) =>
    [value].flat().map((item) => [name, toText(item)] as const),
  );
  if (body === undefined && query.length === 0) return null;
  return { query, body: body === undefined ? null : JSON.stringify(body) };
}

function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
