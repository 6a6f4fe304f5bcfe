import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { declareDiscoveryExtension } from '@x402/extensions/bazaar';
import {
  declarePaymentIdentifierExtension,
  PAYMENT_IDENTIFIER,
} from '@x402/extensions/payment-identifier';
import type { Address } from 'viem';
import type { PaidRoute } from '../paid-route.ts';

/** CAIP-2 name of an EVM chain. */
export type EvmNetwork = `eip155:${number}`;

/** Token and recipient of all payments, the same on every route. */
export type PaymentTerms = {
  readonly network: EvmNetwork;
  /** Contract of the token, which must know EIP-3009. */
  readonly asset: Address;
  /** EIP-712 domain of the token, as its contract states it. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly payTo: Address;
};

/** The seven members of an entry of `accepts`, and no other: official clients refuse more. */
export type Requirements = {
  readonly scheme: 'exact';
  readonly network: EvmNetwork;
  readonly asset: Address;
  /** Base units, as a decimal string. */
  readonly amount: string;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
};

export function parseChainId(network: EvmNetwork): number {
  return Number(network.slice('eip155:'.length));
}

/**
 * Reasons of a refusal, stable because clients key on them. A 402 has the code before the colon of
 * `error`.
 */
export type RefusalCode =
  | 'payment_required'
  | 'invalid_payment'
  | 'invalid_signature'
  | 'wrong_scheme'
  | 'wrong_network'
  | 'wrong_asset'
  | 'wrong_recipient'
  | 'wrong_amount'
  | 'not_yet_valid'
  | 'authorization_expired'
  | 'validity_too_long'
  | 'verification_failed'
  | 'settlement_failed';

/** Longest message in a challenge; longer words of a facilitator are cut. */
export const MAX_REFUSAL_LENGTH = 240;

/** Answered as a 402 with a fresh challenge; nothing was charged. The message says what to do. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused';
  readonly code: RefusalCode;
  /** Content of `PAYMENT-RESPONSE`; null when no settlement was tried. */
  readonly settlement: SettlementNotice | null;

  constructor(code: RefusalCode, message: string, settlement: SettlementNotice | null = null) {
    super(message.slice(0, MAX_REFUSAL_LENGTH));
    this.code = code;
    this.settlement = settlement;
  }
}

/** Reduces a facilitator's reason to one word, because its text is untrusted. */
export function reasonWord(reason: string): string {
  return reason.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 60) || 'unknown';
}

/** Clients echo the whole challenge in their payment header, which has a limit of its own. */
const MAX_CHALLENGE_HEADER_LENGTH = 4_095;

/** Offer of a route in the forms for challenges and for facilitators. */
export type RouteOffer = {
  readonly requirements: Requirements;
  readonly resource: PaymentRequired['resource'];
  readonly extensions: Record<string, unknown>;
};

export type Challenge = {
  /** Exactly the JSON that `PAYMENT-REQUIRED` encodes. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

export function toRouteOffer<Input>(
  route: PaidRoute<Input>,
  terms: PaymentTerms,
  baseUrl: string,
): RouteOffer {
  return {
    requirements: {
      scheme: 'exact',
      network: terms.network,
      asset: terms.asset,
      amount: route.priceBaseUnits.toString(),
      payTo: terms.payTo,
      maxTimeoutSeconds: route.maxTimeoutSeconds,
      extra: { name: terms.assetName, version: terms.assetVersion },
    },
    // Not from the Host header, which the caller can forge.
    resource: {
      url: new URL(route.path, baseUrl).href,
      description: route.description,
      mimeType: 'application/json',
    },
    extensions: {
      bazaar: discoveryExtension(route),
      [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(),
    },
  };
}

/** Describes calls and answers of a route to indexes of paid resources. */
function discoveryExtension<Input>({ discovery, method }: PaidRoute<Input>) {
  const { input, inputSchema, output } = discovery;
  const described = { input, inputSchema, output };
  const { bazaar } = declareDiscoveryExtension(
    method === 'GET' ? described : { ...described, bodyType: 'json' },
  );
  // The package leaves the method out, because its own server would add it.
  return { ...bazaar, info: { ...bazaar?.info, input: { ...bazaar?.info.input, method } } };
}

/** Throws where the header would be too long for clients to echo: a fault of the route's texts. */
export function challengeFor(offer: RouteOffer, { code, message }: PaymentRefused): Challenge {
  const required: PaymentRequired = {
    x402Version: 2,
    error: `${code}: ${message}`,
    resource: offer.resource,
    accepts: [{ ...offer.requirements, extra: { ...offer.requirements.extra } }],
    extensions: offer.extensions,
  };
  const header = encodePaymentRequiredHeader(required);
  if (header.length > MAX_CHALLENGE_HEADER_LENGTH) {
    throw new Error(
      `The challenge of ${offer.resource.url} has ${header.length} characters, over ${MAX_CHALLENGE_HEADER_LENGTH}: shorten its description or its discovery example.`,
    );
  }
  return {
    body: JSON.stringify(required),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'payment-required': header,
    },
  };
}

/** Content of `PAYMENT-RESPONSE`. */
export type SettlementNotice = {
  readonly network: PaymentTerms['network'];
  readonly payer: string;
  /** Null where only the chain knows it. */
  readonly transaction: string | null;
  /** Why it failed; left out where it succeeded. */
  readonly errorReason?: string;
};

export function encodeSettlement(notice: SettlementNotice): string {
  const { network, payer, transaction, errorReason } = notice;
  return encodePaymentResponseHeader({
    success: errorReason === undefined,
    ...(errorReason === undefined ? {} : { errorReason }),
    transaction: transaction ?? '',
    network,
    payer,
  });
}
