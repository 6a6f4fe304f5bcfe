/** A payer with an account of its own, and the headers that it signs. */
import { randomBytes } from 'node:crypto';
import { authorizationTypes } from '@x402/evm';
import { type Address, getAddress, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type PaymentTerms, parseChainId } from '../../../src/service/payment/terms.ts';

export const TERMS: PaymentTerms = {
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  assetName: 'USD Coin',
  assetVersion: '2',
  payTo: '0x1111111111111111111111111111111111111111',
};

export const PRICE = 50_000n;

/** The terms of a payment of `PRICE`, as its claim stores them. */
export const REQUIREMENTS = {
  scheme: 'exact',
  network: TERMS.network,
  asset: TERMS.asset,
  amount: `${PRICE}`,
  payTo: TERMS.payTo,
  maxTimeoutSeconds: 300,
  extra: { name: TERMS.assetName, version: TERMS.assetVersion },
} as const;

export type SignOptions = {
  /** Base units; default `PRICE`. */
  readonly value?: bigint;
  /** Milliseconds since the epoch; `validBefore` is five minutes after it. */
  readonly nowMs?: number;
  readonly validAfter?: bigint;
  readonly validBefore?: bigint;
  readonly nonce?: Hex;
  readonly to?: Address;
  readonly from?: Address;
  /** Whose key signs; default the payer's. */
  readonly signAs?: Hex;
  readonly identifier?: unknown;
  /** Laid over what is sent, after signing. */
  readonly accepted?: Record<string, unknown>;
};

export type SignedHeader = {
  readonly payload: Record<string, unknown>;
  readonly from: Address;
  readonly nonce: Hex;
  /** The authorization for `PAYMENT-SIGNATURE`. */
  readonly header: string;
  /** The same authorization as version 1 sends it, for `X-PAYMENT`. */
  readonly v1: string;
};

export type Payer = {
  readonly address: Address;
  readonly privateKey: Hex;
  sign(options?: SignOptions): Promise<SignedHeader>;
};

export function newNonce(): Hex {
  return `0x${randomBytes(32).toString('hex')}`;
}

export function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');
}

export function toHeaders({ header }: SignedHeader): Record<string, string> {
  return { 'payment-signature': header };
}

/** The same payment with a signature that only a contract could have made. */
export function signAsContract(signed: SignedHeader): SignedHeader {
  const inner = signed.payload['payload'] as Record<string, unknown>;
  const payload = { ...signed.payload, payload: { ...inner, signature: `0x${'ab'.repeat(200)}` } };
  return { ...signed, payload, header: encode(payload) };
}

/** A buyer without a client library: every member of a payment can be set, and set wrongly. */
export function newPayer(privateKey = generatePrivateKey(), terms = TERMS): Payer {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address,
    privateKey,
    async sign(options = {}) {
      const { nowMs = Date.now(), validAfter = 0n, nonce = newNonce(), to = terms.payTo } = options;
      const { validBefore = BigInt(Math.floor(nowMs / 1000) + 300), value = PRICE } = options;
      const message = {
        from: options.from ?? account.address,
        to,
        value,
        validAfter,
        validBefore,
        nonce,
      };
      const signer = options.signAs ? privateKeyToAccount(options.signAs) : account;
      const signature = await signer.signTypedData({
        domain: {
          name: terms.assetName,
          version: terms.assetVersion,
          chainId: parseChainId(terms.network),
          verifyingContract: getAddress(terms.asset),
        },
        types: authorizationTypes,
        primaryType: 'TransferWithAuthorization',
        message,
      });
      const authorization = {
        ...message,
        value: `${value}`,
        validAfter: `${validAfter}`,
        validBefore: `${validBefore}`,
      };
      const inner = { signature, authorization };
      const payload = {
        x402Version: 2,
        accepted: {
          scheme: 'exact',
          network: terms.network,
          asset: terms.asset,
          amount: `${value}`,
          payTo: terms.payTo,
          maxTimeoutSeconds: 300,
          extra: { name: terms.assetName, version: terms.assetVersion },
          ...options.accepted,
        },
        payload: inner,
        ...(options.identifier === undefined
          ? {}
          : {
              extensions: {
                'payment-identifier': { info: { required: false, id: options.identifier } },
              },
            }),
      };
      const v1 = { x402Version: 1, scheme: 'exact', network: 'base', payload: inner };
      return { payload, from: message.from, nonce, header: encode(payload), v1: encode(v1) };
    },
  };
}
