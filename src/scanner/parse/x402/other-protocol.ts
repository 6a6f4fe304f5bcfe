import type { HttpData } from '../../model/observation.ts';
import type { OtherProtocol, OtherWay } from '../../model/payability.ts';
import { headerValues } from '../text/http-header.ts';
import { cleanText } from '../text/text.ts';

export type OtherChallenge = Pick<OtherWay, 'protocol' | 'methods'>;

/** Protocols by authentication scheme. `Payment` is from draft-httpauth-payment. `LSAT` is an old name of `L402`. */
const PROTOCOLS_BY_SCHEME: ReadonlyMap<string, OtherProtocol> = new Map([
  ['payment', 'MPP'],
  ['l402', 'L402'],
  ['lsat', 'L402'],
]);
/** Headers with which a network that sells to crawlers answers 402 (Cloudflare, pay per crawl). */
const CRAWLER_HEADERS = ['crawler-price', 'crawler-error'];
/** Only the start of a header is read. */
const MAX_HEADER_CHARS = 16_384;
const MAX_METHODS = 5;
const MAX_METHOD_CHARS = 40;
const QUOTED_STRING = /"((?:[^"\\]|\\.)*)"?/g;
/** An authentication scheme is the first word, or follows a comma. A "=" after the word makes it a parameter. */
const AUTH_SCHEME = /(?:^|,)[ \t]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?=[ \t]+[^ \t=,]|[ \t]*(?:$|,))/g;
/** The parameter `method`. `readHeader` has replaced a quoted value by its index in `quotedValues`. */
const METHOD_PARAMETER = /(?:^|[ \t,])method[ \t]*=[ \t]*(?:"(\d*)"|([^ \t,"]+))/gi;

const X402_TERMS = /(?:^|[ \t,])(?:network|asset)[ \t]*=/i;

/** Lists the protocols other than x402 that a 402 offers, each once, in the order of the headers. */
export function findOtherChallenges(answer: HttpData): readonly OtherChallenge[] {
  if (answer.status !== 402) return [];
  const challenges = headerValues(answer, 'www-authenticate').flatMap((value) =>
    readHeader(value.slice(0, MAX_HEADER_CHARS)),
  );
  if (CRAWLER_HEADERS.some((name) => headerValues(answer, name).length > 0)) {
    challenges.push({ protocol: 'pay per crawl', methods: [] });
  }
  return [...Map.groupBy(challenges, ({ protocol }) => protocol)].map(([protocol, group]) => ({
    protocol,
    methods: [...new Set(group.flatMap(({ methods }) => methods))].slice(0, MAX_METHODS),
  }));
}

function readHeader(value: string): readonly OtherChallenge[] {
  // Quoted values may contain commas and parameters, so each is replaced by its index before the search.
  const quotedValues: string[] = [];
  const header = value.replace(QUOTED_STRING, (_, text) => `"${quotedValues.push(text) - 1}"`);
  const schemes = [...header.matchAll(AUTH_SCHEME)];
  return schemes.flatMap((match, order): OtherChallenge[] => {
    const [text, scheme = ''] = match;
    const protocol = PROTOCOLS_BY_SCHEME.get(scheme.toLowerCase());
    if (protocol === undefined) return [];
    if (protocol !== 'MPP') return [{ protocol, methods: [] }];
    const parameters = header.slice(match.index + text.length, schemes[order + 1]?.index);
    const methods = [...parameters.matchAll(METHOD_PARAMETER)].map(([, quotedIndex = '', token]) =>
      cleanText(token ?? removeEscapes(quotedValues[Number(quotedIndex)] ?? ''), MAX_METHOD_CHARS),
    );
    const otherMethods = methods.filter((name) => name.toLowerCase() !== 'x402');
    // MPP requires a method. Without one, terms of x402 show that the seller means x402.
    const isX402 = methods.length > 0 ? otherMethods.length === 0 : X402_TERMS.test(parameters);
    if (isX402) return [];
    return [{ protocol, methods: otherMethods.filter((name) => name !== '') }];
  });
}

/** A backslash escapes one character of a quoted string (RFC 9110, 5.6.4). */
function removeEscapes(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

type X402Sale = Pick<OtherWay, 'method' | 'path'>;

const MAX_PATH_CHARS = 80;

/** Describes requests that x402 does not sell: "2 more are sold over MPP: tempo, stripe"; null if there are none. */
export function formatMoreSold(
  ways: readonly OtherWay[],
  x402Sales: readonly X402Sale[],
): string | null {
  const count = formatMoreSoldCount(ways, x402Sales);
  const remaining = omitX402(ways, x402Sales);
  const methods = [...new Set(remaining.flatMap((way) => way.methods))].slice(0, MAX_METHODS);
  if (count === null || methods.length === 0) return count;
  return `${count}: ${methods.join(', ')}`;
}

/** Like `formatMoreSold`, but without the methods: "2 more are sold over MPP". */
export function formatMoreSoldCount(
  ways: readonly OtherWay[],
  x402Sales: readonly X402Sale[],
): string | null {
  const remaining = omitX402(ways, x402Sales);
  const { size } = new Set(remaining.map(({ method, path }) => `${method} ${path}`));
  if (size === 0) return null;
  const protocols = [...new Set(remaining.map(({ protocol }) => protocol))].join(' and ');
  return `${size} more ${size === 1 ? 'is' : 'are'} sold over ${protocols}`;
}

function omitX402(ways: readonly OtherWay[], x402Sales: readonly X402Sale[]): readonly OtherWay[] {
  return ways.filter(
    ({ method, path }) => !x402Sales.some((sale) => sale.method === method && sale.path === path),
  );
}

/** "GET /report over MPP: tempo, stripe" */
export function formatOtherWay({ method, path, protocol, methods }: OtherWay): string {
  const suffix = methods.length === 0 ? '' : `: ${methods.join(', ')}`;
  return `${method} ${cleanText(path, MAX_PATH_CHARS)} over ${protocol}${suffix}`;
}

/** "MPP (tempo, stripe)" */
export function formatProtocol({ protocol, methods }: OtherChallenge): string {
  return methods.length === 0 ? protocol : `${protocol} (${methods.join(', ')})`;
}
