/** Payment protocols other than x402 that a 402 speaks, by its `WWW-Authenticate` challenges. */
import type { HttpData } from '../../model/observation.ts';
import { headerValues } from '../text/http-header.ts';

/** MPP: `Payment` (draft-httpauth-payment). L402: its own name, and `LSAT`, the one of old. */
export type OtherProtocol = 'MPP' | 'L402';

const SCHEMES: Readonly<Record<string, OtherProtocol>> = {
  payment: 'MPP',
  l402: 'L402',
  lsat: 'L402',
};
/** Bounds the work on a header; a challenge begins at its start. */
const MAX_HEADER_CHARS = 16_384;
const QUOTED = /"(?:[^"\\]|\\.)*"?/g;
/** An authentication scheme begins the value or follows a comma, and no "=" follows it. */
const SCHEME = /(?:^|,)[ \t]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?=[ \t]+[^ \t=,]|[ \t]*(?:$|,))/g;

/** The first that is named; null where there is none. Says nothing of an x402 challenge beside it. */
export function otherProtocol(answer: HttpData): OtherProtocol | null {
  if (answer.status !== 402) return null;
  for (const value of headerValues(answer, 'www-authenticate')) {
    // A parameter's value may hold anything, commas and names of schemes too.
    const bare = value.slice(0, MAX_HEADER_CHARS).replace(QUOTED, '""');
    for (const [, scheme = ''] of bare.matchAll(SCHEME)) {
      const name = scheme.toLowerCase();
      if (Object.hasOwn(SCHEMES, name)) return SCHEMES[name] ?? null;
    }
  }
  return null;
}
