import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { findBlockReason } from './address.ts';
import { isAllowedException, type Origin, type OriginPolicy } from './origin.ts';

export type Address = { readonly address: string; readonly family: 4 | 6 };

export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly Address[] }
  /** The host is refused, even if it also has public addresses. */
  | { readonly kind: 'blocked'; readonly address: string; readonly reason: string }
  /** A finding about the origin: its name has no address. */
  | { readonly kind: 'unreachable'; readonly detail: string }
  /** Our resolver failed. This says nothing about the origin, and no payer may be charged. */
  | { readonly kind: 'our-fault'; readonly detail: string };

export type Resolver = {
  resolve4(hostname: string): Promise<string[]>;
  resolve6(hostname: string): Promise<string[]>;
  /** Asks the operating system, which also reads the hosts file. Used for policy exceptions only. */
  lookup(hostname: string): Promise<Address[]>;
};

const MAX_ADDRESSES = 16;
const DNS_TIMEOUT_MS = 3_000;

/** Error codes that concern the name itself. Every other code concerns our own resolver. */
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

/** Queries name servers directly, because `dns.lookup` also reads the hosts file and search domains. */
export function systemResolver(): Resolver {
  const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 });
  return {
    resolve4: (hostname) => resolver.resolve4(hostname),
    resolve6: (hostname) => resolver.resolve6(hostname),
    lookup: async (hostname) => {
      const addresses = await dns.lookup(hostname, { all: true });
      return addresses.map(({ address }) => toAddress(address));
    },
  };
}

/**
 * Resolves an origin to addresses in dialling order, or returns the reason why there are none. The host is
 * refused if one address is blocked. Errors of name servers never reject.
 */
export async function resolveHost(
  origin: Origin,
  policy: OriginPolicy,
  resolver: Resolver,
): Promise<Resolution> {
  const isException = isAllowedException(origin, policy);
  if (isIP(origin.hostname) !== 0) {
    const literal = [toAddress(origin.hostname)];
    return isException ? { kind: 'addresses', addresses: literal } : toResolution(literal);
  }
  if (isException) return lookUpException(origin.hostname, resolver);

  const [v6, v4] = await Promise.allSettled([
    resolver.resolve6(origin.hostname),
    resolver.resolve4(origin.hostname),
  ]);
  const addresses = [v6, v4].flatMap((answer) =>
    answer.status === 'fulfilled' ? answer.value : [],
  );
  if (addresses.length > 0) return toResolution(addresses.map(toAddress));
  return toFailedResolution(
    [v6, v4].map((answer) => (answer.status === 'rejected' ? answer.reason : null)),
  );
}

async function lookUpException(hostname: string, resolver: Resolver): Promise<Resolution> {
  try {
    const addresses = await resolver.lookup(hostname);
    if (addresses.length === 0) return toFailedResolution([null]);
    return { kind: 'addresses', addresses };
  } catch (error) {
    return toFailedResolution([error]);
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

/** NXDOMAIN is a fact about the name, even if the other query failed. A failure of our resolver is not. */
function toFailedResolution(errors: readonly unknown[]): Resolution {
  const codes = errors.map(readCode);
  if (codes.includes('ENOTFOUND')) return toUnreachable('ENOTFOUND');
  const ourCode = codes.find((code) => !(code in NAME_ERRORS));
  if (ourCode !== undefined) {
    return { kind: 'our-fault', detail: `the resolver of this host failed (${ourCode})` };
  }
  return toUnreachable(codes.find((code) => code !== 'ENODATA') ?? 'ENODATA');
}

function toUnreachable(code: string): Resolution {
  return { kind: 'unreachable', detail: `${NAME_ERRORS[code] ?? 'no address'} (${code})` };
}

/** Null stands for an empty answer, which has neither an error nor addresses. */
function readCode(error: unknown): string {
  if (error === null) return 'ENODATA';
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function toAddress(address: string): Address {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}
