/** Whether what an index holds is this very origin or address: their searches are by substring. */
import type { Origin } from '../guard/origin.ts';

export function isSameOrigin(candidate: string, origin: Origin): boolean {
  return URL.canParse(candidate) && new URL(candidate).origin === origin.url;
}

/** Hex addresses differ in case by checksum; base58 ones differ by meaning. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (/^0x/i.test(one) && one.toLowerCase() === other.toLowerCase());
}

/** ISO 8601 in UTC; null where the text names no instant. */
export function toIso(text: string | null | undefined): string | null {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
