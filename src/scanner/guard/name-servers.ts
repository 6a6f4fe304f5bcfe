/** Asks the name servers of this machine. Each question has its own channel, so none waits for another. */
import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { startPatientTimer } from './timers.ts';

export type Address = { readonly address: string; readonly family: 4 | 6 };

export type Resolver = {
  /** `tryNumber` counts from 0. It chooses the name server, so that several tries ask several servers. */
  resolve4(hostname: string, tryNumber?: number): Promise<string[]>;
  resolve6(hostname: string, tryNumber?: number): Promise<string[]>;
  /** Asks the operating system, which also reads the hosts file. Used for policy exceptions only. */
  lookup(hostname: string): Promise<Address[]>;
  /**
   * True if a name server answers for a top-level domain. If none does, a silent name says nothing about the
   * origin. If this function is absent, the name servers count as answering.
   */
  answersTld?(): Promise<boolean>;
};

export type NameServerOptions = {
  /** "127.0.0.1:5353". By default the servers of the operating system, read again for each question. */
  readonly servers?: readonly string[];
  readonly now?: () => number;
};

const TRY_TIMEOUT_MS = 1_500;
/** Longer than a try: the timer of c-ares fires even if this thread was blocked and could not read an answer. */
const CHANNEL_TIMEOUT_MS = 60_000;
/** A name that always exists, so a name server that does not answer for it is out of order. */
const TLD = 'com';
/** Many silent names in a row, as in a census, cause one question. */
const TLD_ANSWER_LIFETIME_MS = 10_000;

type Query<T> = (channel: dns.Resolver) => Promise<T>;

/** Queries name servers directly, because `dns.lookup` also reads the hosts file and search domains. */
export function createSystemResolver({
  servers,
  now = () => performance.now(),
}: NameServerOptions = {}) {
  let tldAnswer: { readonly askedAtMs: number; readonly answer: Promise<boolean> } | null = null;

  // If the system names no server, c-ares asks one on this machine.
  const listTargets = () => {
    const all = servers ?? new dns.Resolver().getServers();
    return all.length > 0 ? all : [undefined];
  };
  const askOneServer = <T>(tryNumber: number, query: Query<T>): Promise<T> => {
    const targets = listTargets();
    return askServer(targets[tryNumber % targets.length], query);
  };

  async function askTld(): Promise<boolean> {
    const questions = listTargets().map(async (server) => {
      try {
        await askServer(server, (channel) => channel.resolveNs(TLD));
        return true;
      } catch (error) {
        return NAME_CODES.has(readCode(error));
      }
    });
    return (await Promise.all(questions)).includes(true);
  }

  return {
    resolve4: (hostname, tryNumber = 0) =>
      askOneServer(tryNumber, (channel) => channel.resolve4(hostname)),
    resolve6: (hostname, tryNumber = 0) =>
      askOneServer(tryNumber, (channel) => channel.resolve6(hostname)),
    lookup: async (hostname) => {
      const addresses = await dns.lookup(hostname, { all: true });
      return addresses.map(({ address }) => toAddress(address));
    },
    answersTld() {
      if (tldAnswer === null || now() - tldAnswer.askedAtMs >= TLD_ANSWER_LIFETIME_MS) {
        tldAnswer = { askedAtMs: now(), answer: askTld() };
      }
      return tldAnswer.answer;
    },
  } satisfies Resolver;
}

/** Codes that the answer of a working name server gives. Nobody needs to ask again. */
export const NAME_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

async function askServer<T>(server: string | undefined, query: Query<T>): Promise<T> {
  const channel = new dns.Resolver({ timeout: CHANNEL_TIMEOUT_MS, tries: 1 });
  if (server !== undefined) channel.setServers([server]);
  let isLate = false;
  const timer = startPatientTimer(TRY_TIMEOUT_MS, () => {
    isLate = true;
    channel.cancel();
  });
  try {
    return await query(channel);
  } catch (error) {
    throw isLate ? Object.assign(new Error('no answer in time'), { code: 'ETIMEOUT' }) : error;
  } finally {
    timer.cancel();
  }
}

export function toAddress(address: string): Address {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

/** Returns the code of an error of a name server. Throws any other error, because it is a defect of ours. */
export function readCode(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  throw error;
}
