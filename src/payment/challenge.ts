import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { declareDiscoveryExtension } from '@x402/extensions/bazaar';
import {
  declarePaymentIdentifierExtension,
  PAYMENT_IDENTIFIER,
} from '@x402/extensions/payment-identifier';
import type { PaidRoute } from './paid-route.ts';
import type { PaymentRefused } from './payment-refused.ts';
import type { PaymentTerms, Requirements } from './payment-terms.ts';

/** Clients echo the whole challenge in their payment header, which has a limit of its own. */
export const MAX_CHALLENGE_HEADER_LENGTH = 4_095;

/** What a facilitator is told beside the signed payload, and what a challenge carries. */
export interface RouteOffer {
  readonly requirements: Requirements;
  readonly resource: PaymentRequired['resource'];
  readonly extensions: Record<string, unknown>;
}

export interface Challenge {
  /** Exactly the JSON that `PAYMENT-REQUIRED` encodes. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function offerOf(route: PaidRoute, terms: PaymentTerms, baseUrl: string): RouteOffer {
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
    // From configuration alone: a Host header is the caller's to forge.
    resource: {
      url: new URL(route.path, baseUrl).href,
      description: route.description,
      mimeType: 'application/json',
    },
    extensions: {
      bazaar: discoveryOf(route),
      [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(),
    },
  };
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

/** A settlement as `PAYMENT-RESPONSE` tells it. */
export interface SettlementNotice {
  readonly network: PaymentTerms['network'];
  readonly payer: string;
  /** Null where only the chain knows it. */
  readonly transaction: string | null;
  /** Why it failed; left out where it succeeded. */
  readonly errorReason?: string;
}

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

function discoveryOf(route: PaidRoute): Record<string, unknown> {
  const { input, inputSchema, output } = route.discovery;
  const query = { input: { ...input }, inputSchema: { ...inputSchema }, output };
  const declared = declareDiscoveryExtension(
    route.method === 'GET' ? query : { ...query, bodyType: 'json' },
  )['bazaar'];
  if (declared === undefined) throw new Error('@x402/extensions declared no bazaar extension.');
  // The package leaves the method to be filled in by its own server.
  return {
    info: { ...declared.info, input: { ...declared.info.input, method: route.method } },
    schema: declared.schema,
  };
}
