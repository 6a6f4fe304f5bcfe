import { authorizationTypes } from '@x402/evm';
import { getAddress, recoverTypedDataAddress } from 'viem';
import { readMembers } from '../../scanner/model/json.ts';
import { KNOWN_ASSETS } from '../../scanner/parse/x402/known-assets.ts';
import { toCaip2, V1_NETWORKS } from '../../scanner/parse/x402/networks.ts';

/** Members of a JSON object that was not validated. */
export type Members = Readonly<Record<string, unknown>>;

type Judgement = {
  readonly nonce: string;
  /** Why the payment is refused; null for a good payment. */
  readonly reason: string | null;
  /** Absent for a refused payment. */
  readonly payer?: string;
};

/** A payment must stay valid this long, so that it can still be settled. @x402/evm has the same value. */
const MIN_VALIDITY_SEC = 6;

/** Returns the nonce in lower case; an empty text if the payload has no nonce. */
export function readNonce(payload: Members): string {
  return toText(readAuthorization(payload)['nonce']).toLowerCase();
}

/** Checks signature, recipient, amount and times of an EIP-3009 payment as its token contract would. */
export async function judgePayment({
  payload,
  requirements,
}: Readonly<Record<'payload' | 'requirements', Members>>): Promise<Judgement> {
  const nonce = readNonce(payload);
  const amount = toText(requirements['amount'] ?? requirements['maxAmountRequired']);
  const reason = findTermFault(payload, requirements, amount);
  if (reason !== null) return { reason, nonce };
  const signer = await recoverSigner(payload, requirements);
  const from = toText(readAuthorization(payload)['from']);
  if (signer === null || signer.toLowerCase() !== from.toLowerCase())
    return { reason: 'invalid_exact_evm_payload_signature', nonce };
  return { payer: from, nonce, reason: null };
}

function findTermFault(payload: Members, requirements: Members, amount: string): string | null {
  const { to, value, validAfter, validBefore, nonce } = readAuthorization(payload);
  const network = readMembers(payload['accepted'])['network'] ?? payload['network'];
  if (parseChainId(toText(network)) !== parseChainId(toText(requirements['network'])))
    return 'network_mismatch';
  if (!/^0x[0-9a-f]{64}$/i.test(toText(nonce))) return 'invalid_payload';
  if (toText(to).toLowerCase() !== toText(requirements['payTo']).toLowerCase())
    return 'invalid_exact_evm_payload_recipient_mismatch';
  if (!/^[0-9]{1,78}$/.test(toText(value)) || toText(value) !== amount)
    return 'invalid_exact_evm_payload_authorization_value';
  const nowSec = Date.now() / 1_000;
  if (Number(toText(validBefore)) < nowSec + MIN_VALIDITY_SEC)
    return 'invalid_exact_evm_payload_authorization_valid_before';
  if (Number(toText(validAfter)) > nowSec)
    return 'invalid_exact_evm_payload_authorization_valid_after';
  return null;
}

async function recoverSigner(payload: Members, requirements: Members): Promise<string | null> {
  const signature = toHex(readMembers(payload['payload'])['signature']);
  if (signature === null) return null;
  try {
    const typedData = toTypedData(requirements, readAuthorization(payload));
    return await recoverTypedDataAddress({ ...typedData, signature });
  } catch {
    return null;
  }
}

/** Returns the message that a buyer signs to pay by EIP-3009. Throws for an invalid address, and outside eip155. */
export function toTypedData({ network, asset, extra }: Members, authorization: Members) {
  const { name, version } = readMembers(extra);
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const chainId = parseChainId(toText(network));
  if (chainId === null) throw new TypeError(`${toText(network)} is not an eip155 network`);
  return {
    domain: {
      name: toText(name),
      version: toText(version),
      chainId,
      verifyingContract: getAddress(toText(asset).toLowerCase()),
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: getAddress(toText(from).toLowerCase()),
      to: getAddress(toText(to).toLowerCase()),
      value: BigInt(toText(value)),
      validAfter: BigInt(toText(validAfter)),
      validBefore: BigInt(toText(validBefore)),
      nonce: toHex(nonce) ?? '0x',
    },
  } as const;
}

function readAuthorization(payload: Members): Members {
  return readMembers(readMembers(payload['payload'])['authorization']);
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function toHex(value: unknown): `0x${string}` | null {
  const text = toText(value);
  return /^0x[0-9a-f]*$/i.test(text) ? `0x${text.slice(2)}` : null;
}

const EVM_PREFIX = 'eip155:';

/** Lists every known eip155 network, because middlewares refuse the wildcard "eip155:*". */
export function listEvmNetworks(extraNetworks: readonly string[]): readonly string[] {
  const knownNetworks = [...V1_NETWORKS.values(), ...KNOWN_ASSETS.map(([network]) => network)];
  return [...new Set([...knownNetworks, ...extraNetworks.map(toCaip2)])].filter((network) =>
    network.startsWith(EVM_PREFIX),
  );
}

/** Lists the names that version 1 has for eip155 networks. */
export function listEvmNames(extraNetworks: readonly string[]): readonly string[] {
  const evmEntries = [...V1_NETWORKS].filter(([, network]) => network.startsWith(EVM_PREFIX));
  const extraNames = extraNetworks.filter((name) => !name.includes(':'));
  return [...new Set([...evmEntries.map(([name]) => name), ...extraNames])];
}

/** Returns null for a network that is not eip155. */
export function parseChainId(network: string): number | null {
  const [, digits] = /^eip155:(\d{1,15})$/.exec(toCaip2(network)) ?? [];
  return digits === undefined ? null : Number(digits);
}
