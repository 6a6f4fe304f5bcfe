/** Base58 as Solana writes addresses, without a chain library. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * The bytes of a base58 text (Bitcoin's alphabet) that are exactly `length` long; null otherwise.
 * The text is measured first: decoding takes time by the square of its length.
 */
export function base58Bytes(text: string, length: number): readonly number[] | null {
  if (text.length > length * 2) return null;
  const bytes: number[] = new Array(length).fill(0);
  for (const character of text) {
    let carry = ALPHABET.indexOf(character);
    if (carry === -1) return null;
    for (let index = length - 1; index >= 0; index -= 1) {
      carry += (bytes[index] ?? 0) * 58;
      bytes[index] = carry % 256;
      carry = Math.floor(carry / 256);
    }
    if (carry !== 0) return null;
  }
  // Each leading zero byte is one leading "1", no more and no less.
  const zeroBytes = bytes.findIndex((byte) => byte !== 0);
  const leadingOnes = [...text].findIndex((character) => character !== '1');
  const zeroCount = zeroBytes === -1 ? length : zeroBytes;
  return zeroCount === (leadingOnes === -1 ? text.length : leadingOnes) ? bytes : null;
}

/** Base58 of a key or an address: short, so the square of its length is nothing. */
export function base58Text(bytes: Uint8Array): string {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; number > 0n; number /= 58n) text = ALPHABET.charAt(Number(number % 58n)) + text;
  const zeroBytes = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeroBytes === -1 ? bytes.length : zeroBytes) + text;
}
