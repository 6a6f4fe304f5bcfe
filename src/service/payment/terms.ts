/** Terms of all payments, offers of routes, and the ledger key and signer of an authorization. */
import type { PaymentRequired } from '@x402/core/types';
import { declareDiscoveryExtension } from '@x402/extensions/bazaar';
import {
  declarePaymentIdentifierExtension,
  PAYMENT_IDENTIFIER,
} from '@x402/extensions/payment-identifier';
import type { Address } from 'viem';
import { isSameAddress } from '../../scanner/parse/x402/namespaces.ts';
import type { Authorization, PaidRoute, SignedPayment } from './paid-route.ts';

/** CAIP-2 name of an EVM chain. */
export type EvmNetwork = `eip155:${number}`;

/** Token and recipient of all payments, the same on every route. */
export type PaymentTerms = {
  readonly network: EvmNetwork;
  /** Contract of the token, which must support EIP-3009. */
  readonly asset: Address;
  /** Name and version of the token's EIP-712 domain, equal to those in its contract. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly payTo: Address;
};

/** One entry of `accepts`. It has no further members, because official clients refuse them. */
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

/** Offer of a route, as challenges state it and facilitators get it. */
export type RouteOffer = {
  readonly requirements: Requirements;
  readonly resource: PaymentRequired['resource'];
  readonly extensions: Record<string, unknown>;
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
    // The URL comes from our settings, because a caller can forge the Host header.
    resource: {
      url: new URL(route.path, baseUrl).href,
      description: route.description,
      mimeType: 'application/json',
    },
    extensions: {
      bazaar: toDiscoveryExtension(route),
      [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(),
    },
  };
}

/** Describes a route's input and output for indexes of paid resources. */
function toDiscoveryExtension<Input>({ discovery, method }: PaidRoute<Input>) {
  const { bazaar } = declareDiscoveryExtension(
    method === 'GET' ? discovery : { ...discovery, bodyType: 'json' },
  );
  // The package leaves the method out, because its own server would add it.
  return { ...bazaar, info: { ...bazaar?.info, input: { ...bazaar?.info.input, method } } };
}

/** Names a payment in the ledger by its decoded nonce, because a payer could write the same payment in other bytes. */
export function toPaymentKey(
  terms: PaymentTerms,
  { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
): string {
  return [terms.network, terms.asset, from, nonce].join(':').toLowerCase();
}

/** Finds the first signed field that differs in two authorizations with the same key; null if none differs. */
export function findDifferingField(
  a: Authorization,
  b: Authorization,
): 'to' | 'value' | 'validAfter' | 'validBefore' | null {
  if (!isSameAddress(a.to, b.to)) return 'to';
  const numbers = ['value', 'validAfter', 'validBefore'] as const;
  return numbers.find((field) => a[field] !== b[field]) ?? null;
}

/** The payer's address in lower case. */
export function toPayer(payment: SignedPayment): string {
  return payment.authorization.from.toLowerCase();
}

/** Length of `0x` and 65 bytes. Signatures of any other length are of contract wallets. */
const PLAIN_SIGNATURE_CHARS = 132;

/** True for signatures of 65 bytes. Plain accounts make them, and some contract wallets accept them too. */
export function isPlainSignature({ signature }: Pick<SignedPayment, 'signature'>): boolean {
  return signature.length === PLAIN_SIGNATURE_CHARS;
}

/** Resolves to true if the private key of `from` made the signature. */
export type SignerCheck = (
  payment: Pick<SignedPayment, 'authorization' | 'signature'>,
) => Promise<boolean>;

/**
 * Recovers the signer of an authorization for our token (EIP-712, EIP-3009). False proves nothing about a contract
 * wallet, whose signature only the chain can check.
 */
export function createSignerCheck(terms: PaymentTerms): SignerCheck {
  const domain = {
    name: terms.assetName,
    version: terms.assetVersion,
    chainId: parseChainId(terms.network),
    verifyingContract: terms.asset,
  };
  return async ({ authorization, signature }) => {
    if (!isPlainSignature({ signature })) return false;
    // The modules of viem are loaded at the first payment, so that the start does not wait for them.
    const [{ recoverTypedDataAddress }, { authorizationTypes }] = await Promise.all([
      import('viem'),
      import('@x402/evm'),
    ]);
    const signer = await recoverTypedDataAddress({
      domain,
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: authorization,
      signature,
    }).catch(() => null); // the bytes are not a valid signature
    return signer !== null && isSameAddress(signer, authorization.from);
  };
}
