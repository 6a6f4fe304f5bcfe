import { isIP } from 'node:net';
import { findBlockReason } from './address.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { type Address, NAME_CODES, type Resolver, readCode, toAddress } from './name-servers.ts';
import { isAllowedException, type Origin, type OriginPolicy } from './origin.ts';

export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly Address[] }
  /** The host is refused, even if it also has public addresses. */
  | { readonly kind: 'blocked'; readonly reason: string }
  /** A finding about the origin: its name has no address. */
  | { readonly kind: 'unreachable'; readonly detail: string }
  /** Our resolver failed. This says nothing about the origin, and no payer may be charged. */
  | { readonly kind: 'our-fault'; readonly detail: string };

const MAX_ADDRESSES = 16;

/** Error codes that may concern the name itself. Every other code concerns our own resolver. */
const NAME_ERRORS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name does not exist',
  ENODATA: 'the name has no address records',
  ESERVFAIL: 'its name servers failed',
  ETIMEOUT: 'its name servers did not answer in time',
  EREFUSED: 'its name servers refused the query',
  EFORMERR: 'its name servers rejected the query',
  ENOTIMP: 'its name servers do not implement the query',
  EBADRESP: 'its name servers sent a malformed answer',
  EBADNAME: 'the name is malformed',
  EAI_AGAIN: 'its name servers did not answer in time',
};

/**
 * Resolves an origin to addresses in dialling order, or returns the reason why there are none. The host is refused if
 * one address is blocked. Errors of name servers never reject.
 */
export async function resolveHost(
  origin: Origin,
  policy: OriginPolicy,
  resolver: Resolver,
  maxTries = DEFAULT_LIMITS.maxDnsTries,
): Promise<Resolution> {
  const isException = isAllowedException(origin, policy);
  if (isIP(origin.hostname) !== 0) {
    const literal = [toAddress(origin.hostname)];
    return isException ? { kind: 'addresses', addresses: literal } : toResolution(literal);
  }
  if (isException) return lookUpException(origin.hostname, resolver);

  const families = await askFamilies(
    [
      (tryNumber) => resolver.resolve6(origin.hostname, tryNumber),
      (tryNumber) => resolver.resolve4(origin.hostname, tryNumber),
    ],
    maxTries,
  );
  const addresses = families.flatMap((family) => family.addresses);
  if (addresses.length > 0) return toResolution(addresses.map(toAddress));
  return toFailedResolution(
    families.map(({ codes }) => codes),
    resolver,
  );
}

/** Asks for the addresses of one family, IPv4 or IPv6. */
type Question = (tryNumber: number) => Promise<string[]>;

/** `codes` has the error code of each failed try. */
type Family = {
  readonly ask: Question;
  readonly addresses: readonly string[];
  readonly codes: readonly string[];
};

/** Repeats each failed question, until a family has an address, or the name does not exist, or `maxTries` are over. */
async function askFamilies(
  questions: readonly Question[],
  maxTries: number,
): Promise<readonly Family[]> {
  let families: readonly Family[] = questions.map((ask) => ({ ask, addresses: [], codes: [] }));
  for (let tryNumber = 0; tryNumber < maxTries; tryNumber += 1) {
    families = await Promise.all(families.map((family) => askAgain(family, tryNumber)));
    const isSettled = families.some(
      ({ addresses, codes }) => addresses.length > 0 || codes.includes('ENOTFOUND'),
    );
    if (isSettled) break;
  }
  return families;
}

/** Asks once more, unless a name server has answered already. An answer without addresses counts as ENODATA. */
async function askAgain(family: Family, tryNumber: number): Promise<Family> {
  const { ask, codes } = family;
  if (NAME_CODES.has(codes.at(-1) ?? '')) return family;
  try {
    const addresses = await ask(tryNumber);
    return { ask, addresses, codes: addresses.length > 0 ? codes : [...codes, 'ENODATA'] };
  } catch (error) {
    return { ask, addresses: [], codes: [...codes, readCode(error)] };
  }
}

async function lookUpException(hostname: string, resolver: Resolver): Promise<Resolution> {
  try {
    const addresses = await resolver.lookup(hostname);
    if (addresses.length === 0) return toUnreachable('ENODATA');
    return { kind: 'addresses', addresses };
  } catch (error) {
    return toFailedResolution([[readCode(error)]], resolver);
  }
}

function toResolution(addresses: readonly Address[]): Resolution {
  for (const { address } of addresses) {
    const reason = findBlockReason(address);
    if (reason !== null) return { kind: 'blocked', reason };
  }
  if (addresses.length > MAX_ADDRESSES) {
    const reason = `${addresses.length} addresses, at most ${MAX_ADDRESSES} are accepted`;
    return { kind: 'blocked', reason };
  }
  return { kind: 'addresses', addresses };
}

/**
 * Tells a finding from our own fault. NXDOMAIN is a fact about the name, even if the other query failed. A failure of
 * our resolver says nothing about the name. If a top-level domain gets no answer either, the fault is ours.
 * @param codesByFamily the codes of all failed tries; at least one for each family
 */
async function toFailedResolution(
  codesByFamily: readonly (readonly string[])[],
  resolver: Resolver,
): Promise<Resolution> {
  const codes = codesByFamily.flat();
  if (codes.includes('ENOTFOUND')) return toUnreachable('ENOTFOUND');
  const isOurs = (code: string) => !(code in NAME_ERRORS);
  const ownFailure = codesByFamily.find((family) => family.every(isOurs));
  if (ownFailure !== undefined) {
    return { kind: 'our-fault', detail: `the resolver of this machine failed (${ownFailure[0]})` };
  }
  // Failures of the name's servers look like failures of our own network, so another name is asked too.
  const serverFailure = codes.findLast((code) => code in NAME_ERRORS && !NAME_CODES.has(code));
  if (serverFailure === undefined) {
    return toUnreachable(codes.includes('EBADNAME') ? 'EBADNAME' : 'ENODATA');
  }
  if ((await resolver.answersTld?.()) === false) {
    const detail = `the resolver of this machine answers neither for this name nor for others (${serverFailure})`;
    return { kind: 'our-fault', detail };
  }
  return toUnreachable(serverFailure);
}

function toUnreachable(code: string): Resolution {
  return { kind: 'unreachable', detail: `${NAME_ERRORS[code]} (${code})` };
}
