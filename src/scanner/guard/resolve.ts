import { isIP } from 'node:net';
import { findBlockReason } from './address.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { type Address, NAME_CODES, type Resolver, readCode, toAddress } from './name-servers.ts';
import { isAllowedException, type Origin, type OriginPolicy } from './origin.ts';

export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly Address[] }
  /** The host is refused, even if it also has public addresses. */
  | { readonly kind: 'blocked'; readonly address: string; readonly reason: string }
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
 * Resolves an origin to addresses in dialling order, or returns the reason why there are none. The host is
 * refused if one address is blocked. Errors of name servers never reject. A question without an answer, or that
 * failed at the name servers, is asked up to `maxTries` times.
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

  const questions: readonly Question[] = [
    (tryNumber) => resolver.resolve6(origin.hostname, tryNumber),
    (tryNumber) => resolver.resolve4(origin.hostname, tryNumber),
  ];
  const answers = await askUntilSettled(questions, maxTries);
  const addresses = answers.flatMap((answer) => answer.addresses);
  if (addresses.length > 0) return toResolution(addresses.map(toAddress));
  return toFailedResolution(
    answers.map(({ codes }) => codes),
    resolver,
  );
}

/** Asks for the addresses of one family. */
type Question = (tryNumber: number) => Promise<string[]>;

/** The codes are those of all tries. Only the last code decides if the question is asked again. */
type FamilyAnswer = { readonly addresses: readonly string[]; readonly codes: readonly string[] };

/** Asks both families, and again those that failed, until there is an address or the name is known to be absent. */
async function askUntilSettled(
  questions: readonly Question[],
  maxTries: number,
): Promise<readonly FamilyAnswer[]> {
  let answers = await Promise.all(questions.map((ask) => askFamily(ask, 0, [])));
  for (let tryNumber = 1; tryNumber < maxTries; tryNumber += 1) {
    const isSettled = answers.some(
      ({ addresses, codes }) => addresses.length > 0 || codes.includes('ENOTFOUND'),
    );
    if (isSettled) break;
    const previousAnswers = answers;
    answers = await Promise.all(
      questions.map((ask, index) => {
        const { addresses, codes } = previousAnswers[index] ?? { addresses: [], codes: [] };
        const isFinal = NAME_CODES.has(codes.at(-1) ?? '');
        return isFinal ? { addresses, codes } : askFamily(ask, tryNumber, codes);
      }),
    );
  }
  return answers;
}

/** Asks once. An answer without addresses counts as ENODATA. Errors of name servers never reject. */
async function askFamily(
  ask: Question,
  tryNumber: number,
  codesBefore: readonly string[],
): Promise<FamilyAnswer> {
  try {
    const addresses = await ask(tryNumber);
    return { addresses, codes: [...codesBefore, ...(addresses.length > 0 ? [] : ['ENODATA'])] };
  } catch (error) {
    return { addresses: [], codes: [...codesBefore, readCode(error)] };
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
    if (reason !== null) return { kind: 'blocked', address, reason };
  }
  if (addresses.length > MAX_ADDRESSES) {
    const reason = `${addresses.length} addresses, at most ${MAX_ADDRESSES} are accepted`;
    return { kind: 'blocked', address: addresses[0]?.address ?? '', reason };
  }
  return { kind: 'addresses', addresses };
}

/**
 * Tells a finding from our own fault. NXDOMAIN is a fact about the name, even if the other query failed. A failure of
 * our resolver says nothing about the name. If a top-level domain gets no answer either, the fault is ours.
 * @param codesByFamily the codes of all tries, for each address family
 */
async function toFailedResolution(
  codesByFamily: readonly (readonly string[])[],
  resolver: Resolver,
): Promise<Resolution> {
  const codes = codesByFamily.flat();
  if (codes.includes('ENOTFOUND')) return toUnreachable('ENOTFOUND');
  const isOurs = (code: string) => !(code in NAME_ERRORS);
  const ownFailure = codesByFamily.find((family) => family.length > 0 && family.every(isOurs));
  if (ownFailure !== undefined) {
    return { kind: 'our-fault', detail: `the resolver of this machine failed (${ownFailure[0]})` };
  }
  const nameError = codes.findLast((code) => code in NAME_ERRORS && !NAME_CODES.has(code));
  if (nameError === undefined) {
    return toUnreachable(codes.find((code) => code !== 'ENODATA') ?? 'ENODATA');
  }
  if ((await resolver.answersTld?.()) === false) {
    const detail = `the resolver of this machine answers neither for this name nor for others (${nameError})`;
    return { kind: 'our-fault', detail };
  }
  return toUnreachable(nameError);
}

function toUnreachable(code: string): Resolution {
  return { kind: 'unreachable', detail: `${NAME_ERRORS[code] ?? 'no address'} (${code})` };
}
