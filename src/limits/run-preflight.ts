import { findFreshReport } from '../directory/published-report.ts';
import { OriginRefused } from '../guard/errors.ts';
import type { Origin, OriginPolicy } from '../guard/origin.ts';
import {
  notAsked,
  type PreflightRequest,
  parsePreflightUrl,
  refusedPreflight,
} from '../preflight/preflight-request.ts';
import type { Preflight } from '../preflight/result.ts';
import type { Store } from '../store/store.ts';
import type { Client } from './client-key.ts';
import type { AdmitAddresses, OriginTurns } from './origin-turns.ts';

/** Sends one GET to addresses that `admit` allows, and judges the answer. */
export type AskSeller = (
  request: GetPreflightRequest,
  admit: AdmitAddresses,
) => Promise<SellerAttempt>;

export type GetPreflightRequest = PreflightRequest & { readonly method: 'GET' };

export type SellerAttempt = {
  /** Null if `admit` refused; no request was sent then. */
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

/** Reads the documents of a host and sends one GET; each request to addresses that `admit` allows. */
export type AskHost = (origin: Origin, admit: AdmitAddresses) => Promise<HostAttempt>;

/** `path` is the one that was asked; null if the documents name none. */
export type HostAttempt = SellerAttempt & { readonly path: string | null };

export type PreflightRunner = ReturnType<typeof createPreflightRunner>;

export type PreflightRunnerOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly askSeller: AskSeller;
  readonly askHost: AskHost;
  readonly turns: OriginTurns;
};

/** Shortest time between two requests to a host, because calls are free and anonymous. */
const COOL_DOWN_MS = 5_000;
/** Calls that would wait longer for a turn are answered from the stored report. */
const MAX_WAIT_MS = 1_000;

const BUSY = 'too many are asked at once: ask again in a few seconds';

export function createPreflightRunner(options: PreflightRunnerOptions) {
  const { store, policy, askSeller, askHost, turns } = options;

  async function stored(request: PreflightRequest, why: string): Promise<Preflight> {
    const { host, url } = request.origin;
    const fresh = await findFreshReport(store, host);
    if (fresh?.origin !== url) return notAsked(why);
    // Loaded with the first preflight: it imports the parsers of offers.
    const { storedPreflight } = await import('../preflight/verdict.ts');
    return storedPreflight(request, fresh.report) ?? notAsked(why);
  }

  /** Null if the wait for a turn would be too long. */
  async function inTurn<Answer extends SellerAttempt>(
    origin: Origin,
    { block }: Client,
    ask: (admit: AdmitAddresses) => Promise<Answer>,
  ): Promise<Answer | null> {
    const blocks = new Set([block]);
    const turn = await turns.enter({ origin, blocks, withinMs: MAX_WAIT_MS });
    let handshakeMs = 0;
    try {
      if (turn === null) return null;
      const answer = await ask((addresses) => turn.toward(addresses));
      handshakeMs = answer.handshakeMs;
      return answer;
    } finally {
      turn?.end(handshakeMs);
    }
  }

  /** Null for the one call of a host that may ask it now; else the reason why no other may. */
  async function restOf({ host }: Origin): Promise<string | null> {
    const { count } = await store.limits.hit(`preflight of ${host}`, COOL_DOWN_MS);
    if (count === 1) return null;
    return `${host} was asked seconds ago: ask again in ${COOL_DOWN_MS / 1_000} s`;
  }

  return {
    /** Judges one URL. */
    async askUrl({ url, method, maxPrice, client }: PreflightCall): Promise<Preflight> {
      let request: PreflightRequest;
      try {
        request = { ...parsePreflightUrl(url, policy), method, maxPrice };
      } catch (error) {
        if (error instanceof OriginRefused) return refusedPreflight(error);
        throw error;
      }
      const { origin } = request;
      if (method !== 'GET') {
        return stored(request, `${method} is not sent, and no report of ${origin.host} covers it`);
      }
      const rest = await restOf(origin);
      if (rest !== null) return stored(request, rest);
      const answer = await inTurn(origin, client, (admit) =>
        askSeller({ ...request, method }, admit),
      );
      return answer?.preflight ?? stored(request, BUSY);
    },

    /** Judges the first address that the origin's documents sell by GET. */
    async askHost(origin: Origin, client: Client) {
      const rest = await restOf(origin);
      if (rest !== null) return { path: null, preflight: notAsked(rest) };
      const answer = await inTurn(origin, client, (admit) => askHost(origin, admit));
      return { path: answer?.path ?? null, preflight: answer?.preflight ?? notAsked(BUSY) };
    },
  };
}
