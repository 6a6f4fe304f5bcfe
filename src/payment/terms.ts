/** The terms of all payments, the offer of a route, and the key and the signer of an authorization over them. */
import type { PaymentRequired } from '@x402/core/types';
import { declareDiscoveryExtension } from '@x402/extensions/bazaar';
import {
  declarePaymentIdentifierExtension,
  PAYMENT_IDENTIFIER,
} from '@x402/extensions/payment-identifier';
import type { Address } from 'viem';
import { isSameAddress } from '../config/parse-values.ts';
import type { Authorization, PaidRoute, SignedPayment } from './paid-route.ts';

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

/** Offer of a route in the forms for challenges and for facilitators. */
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

/**
 * The ledger's key: who spends which nonce of which token, never bytes of a header, so that no
 * other spelling of a payment is another payment.
 */
export function toPaymentKey(
  terms: PaymentTerms,
  { from, nonce }: Pick<Authorization, 'from' | 'nonce'>,
): string {
  return [terms.network, terms.asset, from, nonce].join(':').toLowerCase();
}

export function toPayer(payment: SignedPayment): string {
  return payment.authorization.from.toLowerCase();
}

/** Characters of `0x` and 65 bytes: all other signatures are of contract wallets. */
const PLAIN_SIGNATURE_LENGTH = 132;

/** True for signatures of 65 bytes: plain accounts make them, and some contracts take them. */
export function isPlainSignature({ signature }: Pick<SignedPayment, 'signature'>): boolean {
  return signature.length === PLAIN_SIGNATURE_LENGTH;
}

/** Resolves to true if the key behind `from` itself signed. */
export type SignerCheck = (
  payment: Pick<SignedPayment, 'authorization' | 'signature'>,
) => Promise<boolean>;

/**
 * Recovers the signer of an authorization for our token (EIP-712, EIP-3009). False says nothing of
 * contract wallets: only the chain can ask them.
 */
export function createSignerCheck({ network, asset, ...token }: PaymentTerms): SignerCheck {
  const domain = {
    name: token.assetName,
    version: token.assetVersion,
    chainId: parseChainId(network),
    verifyingContract: asset,
  };
  return async ({ authorization, signature }) => {
    if (!isPlainSignature({ signature })) return false;
    // Loaded with the first payment: no start waits for the modules of viem.
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
    }).catch(() => null); // numbers that are not a signature of any key
    return signer !== null && isSameAddress(signer, authorization.from);
  };
}
