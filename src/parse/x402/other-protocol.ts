import type { HttpData } from '../../model/observation.ts';
import { headerValues } from '../text/http-header.ts';

/** MPP uses `Payment` (draft-httpauth-payment). L402 uses its own name and its earlier one, `LSAT`. */
export type OtherProtocol = 'MPP' | 'L402';

const SCHEMES: Readonly<Record<string, OtherProtocol>> = {
  payment: 'MPP',
  l402: 'L402',
  lsat: 'L402',
};
/** Bounds the work on a header; a challenge begins at its start. */
const MAX_HEADER_CHARS = 16_384;
const QUOTED = /"(?:[^"\\]|\\.)*"?/g;
/** An authentication scheme begins the value or follows a comma, and has no "=" after it. */
const SCHEME = /(?:^|,)[ \t]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?=[ \t]+[^ \t=,]|[ \t]*(?:$|,))/g;

/** Returns the first protocol named; null when there is none. An x402 challenge may stand beside it. */
export function otherProtocol(answer: HttpData): OtherProtocol | null {
  if (answer.status !== 402) return null;
  for (const value of headerValues(answer, 'www-authenticate')) {
    // Quoted values may contain commas and scheme names.
    const bare = value.slice(0, MAX_HEADER_CHARS).replace(QUOTED, '""');
    for (const [, scheme = ''] of bare.matchAll(SCHEME)) {
      const name = scheme.toLowerCase();
      if (Object.hasOwn(SCHEMES, name)) return SCHEMES[name] ?? null;
    }
  }
  return null;
}
