import type { HttpData } from '../../model/observation.ts';
import type { OtherProtocol, OtherWay } from '../../model/payability.ts';
import { headerValues } from '../text/http-header.ts';
import { cleanText } from '../text/text.ts';

export type OtherChallenge = Pick<OtherWay, 'protocol' | 'methods'>;

/** MPP uses `Payment` (draft-httpauth-payment). L402 uses its own name and its earlier one, `LSAT`. */
const SCHEMES: Readonly<Record<string, OtherProtocol>> = {
  payment: 'MPP',
  l402: 'L402',
  lsat: 'L402',
};
/** Bounds the work on a header; a challenge begins at its start. */
const MAX_HEADER_CHARS = 16_384;
const MAX_METHODS = 5;
const MAX_METHOD_CHARS = 40;
const QUOTED = /"((?:[^"\\]|\\.)*)"?/g;
/** An authentication scheme begins the value or follows a comma, and has no "=" after it. */
const SCHEME = /(?:^|,)[ \t]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?=[ \t]+[^ \t=,]|[ \t]*(?:$|,))/g;
/** The parameter `method`; its quoted value is replaced by its index. */
const METHOD = /(?:^|[ \t,])method[ \t]*=[ \t]*(?:"(\d*)"|([^ \t,"]+))/gi;

/** Lists each other protocol of a 402 once, in the order of its headers. An x402 challenge may stand beside it. */
export function findOtherChallenges(answer: HttpData): readonly OtherChallenge[] {
  if (answer.status !== 402) return [];
  const challenges = headerValues(answer, 'www-authenticate').flatMap((value) =>
    readHeader(value.slice(0, MAX_HEADER_CHARS)),
  );
  return [...Map.groupBy(challenges, ({ protocol }) => protocol)].map(([protocol, all]) => ({
    protocol,
    methods: [...new Set(all.flatMap(({ methods }) => methods))].slice(0, MAX_METHODS),
  }));
}

function readHeader(value: string): readonly OtherChallenge[] {
  // Quoted values may contain commas, scheme names and parameters.
  const quoted: string[] = [];
  const bare = value.replace(QUOTED, (_, text: string) => `"${quoted.push(text) - 1}"`);
  const schemes = [...bare.matchAll(SCHEME)];
  return schemes.flatMap(({ index, 0: { length }, 1: scheme = '' }, at): OtherChallenge[] => {
    const protocol = protocolOf(scheme);
    if (protocol === null) return [];
    if (protocol !== 'MPP') return [{ protocol, methods: [] }];
    const parameters = bare.slice(index + length, schemes[at + 1]?.index);
    const named = [...parameters.matchAll(METHOD)].map(([, key = '', token]) =>
      cleanText(token ?? unescaped(quoted[Number(key)] ?? ''), MAX_METHOD_CHARS),
    );
    return [{ protocol, methods: named.filter((name) => name !== '') }];
  });
}

function protocolOf(scheme: string): OtherProtocol | null {
  const name = scheme.toLowerCase();
  return Object.hasOwn(SCHEMES, name) ? (SCHEMES[name] ?? null) : null;
}

/** A backslash escapes one character of a quoted string (RFC 9110, 5.6.4). */
function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
