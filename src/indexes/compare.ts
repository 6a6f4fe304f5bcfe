/** Indexes search by substring, so their rows are compared with the exact origin or address. */
import type { Origin } from '../guard/origin.ts';

export function isSameOrigin(candidate: string, origin: Origin): boolean {
  return URL.canParse(candidate) && new URL(candidate).origin === origin.url;
}

/** Hex addresses differ in case by checksum only; base58 is case-sensitive. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (/^0x/i.test(one) && one.toLowerCase() === other.toLowerCase());
}

/** Converts to ISO 8601 in UTC; null for a text that is no instant. */
export function toIso(text: string | null | undefined): string | null {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
