import { getAddress, isAddress, recoverTypedDataAddress } from 'viem';
import { parseChainId } from './networks.ts';

export const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export type Members = Readonly<Record<string, unknown>>;

type Judgement =
  | { readonly payer: string; readonly nonce: string; readonly amount: string }
  | { readonly reason: string; readonly nonce: string };

/** The clocks of seller and buyer may differ by this much. */
const LEEWAY_SEC = 6;

export function toMembers(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Lower case; empty if there is none. */
export function readNonce(payload: Members): string {
  return text(authorizationOf(payload)['nonce']).toLowerCase();
}

/** Checks signature, recipient, amount and times of an EIP-3009 payment as its token contract would. */
export async function judgePayment({
  payload,
  requirements,
}: Readonly<Record<'payload' | 'requirements', Members>>): Promise<Judgement> {
  const authorization = authorizationOf(payload);
  const nonce = readNonce(payload);
  const amount = text(requirements['amount'] ?? requirements['maxAmountRequired']);
  const reason = termFault(payload, requirements, amount);
  if (reason !== null) return { reason, nonce };
  const signer = await signerOf(payload, requirements);
  const from = text(authorization['from']);
  if (signer === null || signer.toLowerCase() !== from.toLowerCase()) {
    return { reason: 'invalid_exact_evm_payload_signature', nonce };
  }
  return { payer: from, nonce, amount };
}

function termFault(payload: Members, requirements: Members, amount: string): string | null {
  const { to, value, validAfter, validBefore, nonce } = authorizationOf(payload);
  const network = toMembers(payload['accepted'])['network'] ?? payload['network'];
  if (parseChainId(text(network)) !== parseChainId(text(requirements['network']))) {
    return 'network_mismatch';
  }
  if (!/^0x[0-9a-f]{64}$/i.test(text(nonce))) return 'invalid_payload';
  if (text(to).toLowerCase() !== text(requirements['payTo']).toLowerCase()) {
    return 'invalid_exact_evm_payload_recipient_mismatch';
  }
  if (!/^[0-9]{1,78}$/.test(text(value)) || text(value) !== amount) {
    return 'invalid_exact_evm_payload_authorization_value';
  }
  const nowSec = Date.now() / 1_000;
  if (Number(text(validBefore)) < nowSec + LEEWAY_SEC) {
    return 'invalid_exact_evm_payload_authorization_valid_before';
  }
  if (Number(text(validAfter)) > nowSec) {
    return 'invalid_exact_evm_payload_authorization_valid_after';
  }
  return null;
}

async function signerOf(payload: Members, requirements: Members): Promise<string | null> {
  const { from, to, value, validAfter, validBefore, nonce } = authorizationOf(payload);
  const { name, version } = toMembers(requirements['extra']);
  const asset = text(requirements['asset']);
  const chainId = parseChainId(text(requirements['network']));
  const signature = hex(toMembers(payload['payload'])['signature']);
  if (!isAddress(asset, { strict: false }) || chainId === null || signature === null) return null;
  try {
    return await recoverTypedDataAddress({
      domain: {
        name: text(name),
        version: text(version),
        chainId,
        verifyingContract: getAddress(asset.toLowerCase()),
      },
      types: TRANSFER_TYPES,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: getAddress(text(from).toLowerCase()),
        to: getAddress(text(to).toLowerCase()),
        value: BigInt(text(value)),
        validAfter: BigInt(text(validAfter)),
        validBefore: BigInt(text(validBefore)),
        nonce: hex(nonce) ?? '0x',
      },
      signature,
    });
  } catch {
    return null;
  }
}

function authorizationOf(payload: Members): Members {
  return toMembers(toMembers(payload['payload'])['authorization']);
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function hex(value: unknown): `0x${string}` | null {
  const written = text(value);
  return /^0x[0-9a-f]*$/i.test(written) ? `0x${written.slice(2)}` : null;
}
