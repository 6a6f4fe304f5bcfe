import { OriginRefused } from '../guard/errors.ts';
import type { OriginPolicy } from '../guard/origin.ts';
import { type Asked, askedUrl, notAsked, refusedPreflight } from '../preflight/asked.ts';
import type { Preflight } from '../preflight/result.ts';
import type { Store } from '../store/contract/store.ts';
import type { Client } from './client-key.ts';
import { findFreshReport } from './fresh-report.ts';
import type { AdmitAddresses, OriginTurns } from './origin-turns.ts';

/** Sends one GET to addresses that `admit` allows, and judges the answer. */
export type AskSeller = (asked: AskedByGet, admit: AdmitAddresses) => Promise<AskedSeller>;

export type AskedByGet = Asked & { readonly method: 'GET' };

export type AskedSeller = {
  /** Null where `admit` refused; no request was sent then. */
  readonly preflight: Preflight | null;
  /** Processor time of TLS handshakes. */
  readonly handshakeMs: number;
};

export type PreflightCall = {
  readonly url: string;
  readonly method: string;
  readonly maxPrice: string | null;
  readonly client: Client;
};

export type RunPreflight = (call: PreflightCall) => Promise<Preflight>;

export type PreflightRunnerOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly askSeller: AskSeller;
  readonly turns: OriginTurns;
};

/** Shortest time between two requests to a host, because calls are free and anonymous. */
const COOL_DOWN_MS = 5_000;
/** Calls that would wait longer for a turn are answered from the stored report. */
const MAX_WAIT_MS = 1_000;

export function createPreflightRunner({
  store,
  policy,
  askSeller,
  turns,
}: PreflightRunnerOptions): RunPreflight {
  async function stored(asked: Asked, why: string): Promise<Preflight> {
    const { host, url } = asked.origin;
    const fresh = await findFreshReport(store, host);
    const payability = fresh?.origin === url ? fresh.report.payability : null;
    // Loaded with the first preflight: it imports the parsers of offers.
    const { storedPreflight } = await import('../preflight/stored-preflight.ts');
    return storedPreflight(asked, payability) ?? notAsked(why);
  }

  async function askInTurn(asked: AskedByGet, { block }: Client): Promise<Preflight | null> {
    const { origin } = asked;
    const blocks = new Set([block]);
    const turn = await turns.enter({ origin, blocks, withinMs: MAX_WAIT_MS });
    let handshakeMs = 0;
    try {
      if (turn === null) return null;
      const answer = await askSeller(asked, (addresses) => turn.toward(addresses));
      handshakeMs = answer.handshakeMs;
      return answer.preflight;
    } finally {
      turn?.end(handshakeMs);
    }
  }

  return async ({ url, method, maxPrice, client }) => {
    let asked: Asked;
    try {
      asked = { ...askedUrl(url, policy), method, maxPrice };
    } catch (error) {
      if (error instanceof OriginRefused) return refusedPreflight(error);
      throw error;
    }
    const { host } = asked.origin;
    if (method !== 'GET') {
      return stored(asked, `${method} is not sent, and no report of ${host} tells of it`);
    }
    const { count } = await store.limits.hit(`preflight of ${host}`, COOL_DOWN_MS);
    if (count === 1) {
      const preflight = await askInTurn({ ...asked, method }, client);
      if (preflight !== null) return preflight;
      return stored(asked, 'too many are asked at once: ask again in a few seconds');
    }
    return stored(asked, `${host} was asked seconds ago: ask again in ${COOL_DOWN_MS / 1_000} s`);
  };
}
