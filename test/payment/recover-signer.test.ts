/** Signers are told as viem tells them, whatever the signature: by another library, and from a digest of our own. */
import { authorizationTypes } from '@x402/evm';
import fc from 'fast-check';
import { getAddress, type Hex, hashTypedData, recoverAddress } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { chainIdOf, type PaymentTerms } from '../../src/payment/gate/challenge.ts';
import { recoverSigner } from '../../src/payment/gate/recover-signer.ts';
import { transferDigester } from '../../src/payment/gate/transfer-digest.ts';
import type { Authorization } from '../../src/payment/paid-route.ts';

/** Numbers of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const FIELD = 2n ** 256n - 2n ** 32n - 977n;
const MAX_UINT256 = 2n ** 256n - 1n;
const LAST_BYTES = [0, 1, 27, 28] as const;

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => hexOf(bytes));
const uint256 = fc.bigInt(0n, MAX_UINT256);
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(hexOf(bytes)));
const key = fc.bigInt(1n, ORDER - 1n).map(word);

describe('a digest', () => {
  test('is that of EIP-712, of any authorization and any token', async () => {
    const terms = fc.record({
      network: fc.nat().map((id) => `eip155:${id}` as const),
      asset: address,
      assetName: fc.string({ unit: 'binary', minLength: 1 }),
      assetVersion: fc.string({ minLength: 1 }),
      payTo: address,
    });
    const authorization = fc.record({
      from: address,
      to: address,
      value: uint256,
      validAfter: uint256,
      validBefore: uint256,
      nonce: bytes32,
    });
    await fc.assert(
      fc.asyncProperty(terms, authorization, async (token, message) => {
        expect(hexOf(transferDigester(token)(message))).toBe(digestByViem(token, message));
      }),
    );
  });
});

describe('a signer', () => {
  test('is the account that signed, by either spelling of the last byte', async () => {
    await fc.assert(
      fc.asyncProperty(key, bytes32, async (privateKey, digest) => {
        const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey });
        const signer = privateKeyToAccount(privateKey).address.toLowerCase();
        for (const v of [yParity, yParity + 27]) {
          expect(await recovered(digest, signature(BigInt(r), BigInt(s), v))).toBe(signer);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('is the same for the other half of the curve, whose s is high', async () => {
    await fc.assert(
      fc.asyncProperty(key, bytes32, async (privateKey, digest) => {
        const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey });
        const twin = signature(BigInt(r), ORDER - BigInt(s), 28 - yParity);
        const signer = privateKeyToAccount(privateKey).address.toLowerCase();
        expect(await recovered(digest, twin)).toBe(signer);
        await expectAsViem(digest, twin);
      }),
      { numRuns: 30 },
    );
  });

  test('is as viem says for any bytes at all', async () => {
    const v = fc.oneof(fc.constantFrom(...LAST_BYTES), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(bytes32, uint256, uint256, v, async (digest, r, s, last) => {
        await expectAsViem(digest, signature(r, s, last));
      }),
      { numRuns: 200 },
    );
  });

  const edges = [
    0n,
    1n,
    2n,
    5n, // no point of the curve has it
    ORDER / 2n,
    ORDER / 2n + 1n,
    ORDER - 1n,
    ORDER,
    ORDER + 1n,
    FIELD - ORDER, // with the order added, no longer in the field
    FIELD - ORDER - 1n,
    FIELD - 1n,
    FIELD,
    MAX_UINT256,
  ];
  const digests: readonly Hex[] = [word(0n), word(1n), word(ORDER), word(MAX_UINT256)];

  test('is as viem says at every edge of the numbers', async () => {
    for (const r of edges) {
      for (const s of edges) {
        for (const [index, v] of LAST_BYTES.entries()) {
          await expectAsViem(digests[index] ?? word(2n), signature(r, s, v));
        }
      }
    }
  });

  test('is nobody where the sum is the point at infinity', async () => {
    // Of R = G, s = z: the key that is recovered is zero.
    const generatorX = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n;
    const digest = word(12_345n);
    expect(await recovered(digest, signature(generatorX, 12_345n, 27))).toBeNull();
    await expectAsViem(digest, signature(generatorX, 12_345n, 27));
  });

  test.each([2, 3, 26, 29, 30, 35, 255])('is nobody where the last byte is %i', async (v) => {
    const digest = word(1n);
    const privateKey = word(7n);
    const { r, s } = await sign({ hash: digest, privateKey });
    expect(await recovered(digest, signature(BigInt(r), BigInt(s), v))).toBeNull();
    await expectAsViem(digest, signature(BigInt(r), BigInt(s), v));
  });

  test.each(['0x', '0x00', `0x${'11'.repeat(64)}`, `0x${'11'.repeat(66)}`] as const)(
    'is nobody where there are not 65 bytes: %s',
    async (bytes) => {
      expect(await recovered(word(1n), bytes)).toBeNull();
    },
  );
});

function digestByViem(terms: PaymentTerms, message: Authorization): Hex {
  return hashTypedData({
    domain: {
      name: terms.assetName,
      version: terms.assetVersion,
      chainId: chainIdOf(terms.network),
      verifyingContract: terms.asset,
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  });
}

async function expectAsViem(hash: Hex, given: Hex): Promise<void> {
  const expected = await recoverAddress({ hash, signature: given }).catch(() => null);
  expect(await recovered(hash, given), `${hash} ${given}`).toBe(expected?.toLowerCase() ?? null);
}

function recovered(digest: Hex, given: Hex): Promise<string | null> {
  return recoverSigner(Buffer.from(digest.slice(2), 'hex'), given);
}

function signature(r: bigint, s: bigint, v: number): Hex {
  return `${word(r)}${word(s).slice(2)}${v.toString(16).padStart(2, '0')}`;
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
