import { randomBytes } from 'node:crypto';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  judgePayment,
  type Members,
  readNonce,
  TRANSFER_TYPES,
  toMembers,
} from './judge-payment.ts';
import { parseChainId } from './networks.ts';
import { jsonOf } from './replies.ts';
import type { SellerAnswer } from './seller-client.ts';

type PaymentRequired = ReturnType<x402HTTPClient['getPaymentRequiredResponse']>;
type PaymentPayload = Awaited<ReturnType<x402HTTPClient['createPaymentPayload']>>;

/** Terms of an offer by the names of version 2. */
export type Terms = {
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** Base units. */
  readonly amount: string;
};

export type SellerChallenge = {
  readonly required: PaymentRequired;
  readonly version: 1 | 2;
  readonly terms: Terms;
  /** Null if the bazaar extension declares none. */
  readonly example: Example | null;
};

/** The call that a bazaar extension declares as an example. */
export type Example = {
  readonly query: readonly (readonly [name: string, value: string])[];
  /** JSON */
  readonly body: string | null;
};

export type Changes = Partial<Terms> & {
  /** Seconds from now; the official client's own times by default. */
  readonly validAfterSec?: number;
  readonly validBeforeSec?: number;
};

type Resigned = Terms & Changes & { readonly extra: Members; readonly version: 1 | 2 };

export type Payment = {
  readonly nonce: string;
  readonly version: 1 | 2;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: PaymentPayload;
  /** The challenge that it answers. */
  readonly required: Members;
};

type Wallet = {
  readonly account: ReturnType<typeof privateKeyToAccount>;
  readonly client: x402HTTPClient;
};

/** Spend controls are off, and the key is thrown away. */
function openWallet(): Wallet {
  const account = privateKeyToAccount(generatePrivateKey());
  const client = new x402Client();
  registerExactEvmScheme(client, { signer: account });
  client.setSpendControls(false);
  return { account, client: new x402HTTPClient(client) };
}

/**
 * Signs by the official client. Each payment has a payer of its own: a seller may hold up one whose
 * payment is in doubt.
 */
export class Payer {
  readonly #client = openWallet().client;

  /** The first signature and verification of a process take long, so a seller would time out on them. */
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
    const resource = { url: 'http://localhost/' };
    const payload = await client.createPaymentPayload({
      x402Version: 2,
      resource,
      accepts: [offer],
    });
    await judgePayment({ payload: toMembers(payload), requirements: offer });
  }

  /** Returns the offer to pay, or the reason that there is none. */
  read(answer: SellerAnswer): SellerChallenge | string {
    if (answer.status !== 402) return `answers ${answer.status} and no 402`;
    const required = this.readChallenge(answer);
    if (required === null) return 'its 402 holds no challenge that the official client can read';
    const offer = required.accepts.find(isTried);
    if (offer === undefined) return 'no offer is exact by EIP-3009 on an eip155 network';
    const { network, asset, payTo } = offer;
    const amount = 'amount' in offer ? offer.amount : '';
    const price = String(amount || toMembers(offer)['maxAmountRequired']);
    return {
      required: { ...required, accepts: [offer] },
      version: required.x402Version === 1 ? 1 : 2,
      terms: { network, asset, payTo, amount: price },
      example: exampleOf(toMembers(required)),
    };
  }

  /** Null without a challenge that the official client can read. */
  readChallenge({ headers, body }: SellerAnswer): PaymentRequired | null {
    try {
      const required = this.#client.getPaymentRequiredResponse(
        (name) => headers[name.toLowerCase()] ?? null,
        jsonOf(body),
      );
      return Array.isArray(required.accepts) ? required : null;
    } catch {
      return null;
    }
  }

  async pay(
    { required, version, terms }: SellerChallenge,
    changes: Changes = {},
  ): Promise<Payment> {
    const { account, client } = openWallet();
    const signed = await client.createPaymentPayload(required);
    const isChanged = Object.keys(changes).length > 0;
    const [offer] = required.accepts;
    const extra = toMembers(offer?.extra);
    const changed = { ...terms, ...changes, extra, version };
    const payload = isChanged ? await resign(account, signed, changed) : signed;
    return {
      nonce: readNonce(toMembers(payload)),
      version,
      headers: client.encodePaymentSignatureHeader(payload),
      payload,
      required: toMembers(required),
    };
  }
}

/** Signs other terms than the challenge has, and claims in the payload that they were accepted. */
async function resign(
  account: Wallet['account'],
  payload: PaymentPayload,
  wanted: Resigned,
): Promise<PaymentPayload> {
  const { network, asset, payTo, amount, extra, version } = wanted;
  const { validAfterSec, validBeforeSec } = wanted;
  const whole = toMembers(payload);
  const inner = toMembers(whole['payload']);
  const before = toMembers(inner['authorization']);
  const accepted = toMembers(whole['accepted']);
  const nowSec = Math.floor(Date.now() / 1_000);
  const authorization = {
    from: account.address,
    to: getAddress(payTo),
    value: amount,
    validAfter:
      validAfterSec === undefined ? String(before['validAfter']) : String(nowSec + validAfterSec),
    validBefore:
      validBeforeSec === undefined
        ? String(before['validBefore'])
        : String(nowSec + validBeforeSec),
    nonce: `0x${randomBytes(32).toString('hex')}` as const,
  };
  const signature = await account.signTypedData({
    domain: {
      name: String(extra['name']),
      version: String(extra['version']),
      chainId: parseChainId(network) ?? 0,
      verifyingContract: getAddress(asset),
    },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  });
  const terms = { network, asset, payTo, amount };
  const changed = version === 1 ? { network } : { accepted: { ...accepted, ...terms } };
  // The members keep the types of the official client's payload.
  return {
    ...whole,
    ...changed,
    payload: { ...inner, signature, authorization },
  } as unknown as PaymentPayload;
}

function isTried(offer: PaymentRequired['accepts'][number] | null): boolean {
  if (offer === null) return false;
  const { assetTransferMethod = 'eip3009', name } = toMembers(offer.extra);
  return (
    offer.scheme === 'exact' &&
    parseChainId(offer.network) !== null &&
    assetTransferMethod === 'eip3009' &&
    typeof name === 'string'
  );
}

function exampleOf(required: Members): Example | null {
  const bazaar = toMembers(toMembers(required['extensions'])['bazaar']);
  const { body, queryParams } = toMembers(toMembers(bazaar['info'])['input']);
  const query = Object.entries(toMembers(queryParams)).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, textOf(one)] as const),
  );
  if (body === undefined && query.length === 0) return null;
  return { query, body: body === undefined ? null : JSON.stringify(body) };
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
