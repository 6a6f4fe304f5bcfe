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
  /** Null if `admit` refused the addresses, and no request was sent. */
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

/** Reads a host's documents, and sends a GET to a URL that they sell. Connects to addresses that `admit` allows. */
export type AskHost = (origin: Origin, admit: AdmitAddresses) => Promise<HostAttempt>;

/** `path` is the path of the GET; null if the documents name none. */
export type HostAttempt = SellerAttempt & { readonly path: string | null };

export type PreflightRunner = ReturnType<typeof createPreflightRunner>;

export type PreflightRunnerOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly askSeller: AskSeller;
  readonly askHost: AskHost;
  readonly turns: OriginTurns;
};

/** Shortest time between two preflights of a host. It is limited because calls are free and anonymous. */
const COOL_DOWN_MS = 5_000;
/** A call that would wait longer gets an answer from the stored report. */
const MAX_WAIT_MS = 1_000;

const BUSY_REASON = 'too many sellers are asked at once: ask again in a few seconds';

export function createPreflightRunner(options: PreflightRunnerOptions) {
  const { store, policy, askSeller, askHost, turns } = options;

  async function answerFromStore(request: PreflightRequest, reason: string): Promise<Preflight> {
    const { host, url } = request.origin;
    const report = await findFreshReport(store, host);
    if (report?.origin !== url) return notAsked(reason);
    // This module imports the parsers of offers, so it is loaded with the first preflight.
    const { storedPreflight } = await import('../preflight/verdict.ts');
    return storedPreflight(request, report.report) ?? notAsked(reason);
  }

  /** Resolves to null if the wait for a turn is too long. */
  async function runInTurn<Answer extends SellerAttempt>(
    origin: Origin,
    { block }: Client,
    ask: (admit: AdmitAddresses) => Promise<Answer>,
  ): Promise<Answer | null> {
    const turn = await turns.enter({ origin, blocks: new Set([block]), withinMs: MAX_WAIT_MS });
    let handshakeMs = 0;
    try {
      if (turn === null) return null;
      const answer = await ask((addresses) => turn.admit(addresses));
      handshakeMs = answer.handshakeMs;
      return answer;
    } finally {
      turn?.end(handshakeMs);
    }
  }

  /** Resolves to null if this call may ask the host now; otherwise to the reason why it may not. */
  async function findCoolDownReason({ host }: Origin): Promise<string | null> {
    const { count } = await store.limits.hit(`preflight of ${host}`, COOL_DOWN_MS);
    if (count === 1) return null;
    return `${host} was asked seconds ago: ask again in ${COOL_DOWN_MS / 1_000} s`;
  }

  return {
    /** Judges one URL. */
    async judgeUrl({ url, method, maxPrice, client }: PreflightCall): Promise<Preflight> {
      let request: PreflightRequest;
      try {
        request = { ...parsePreflightUrl(url, policy), method, maxPrice };
      } catch (error) {
        if (error instanceof OriginRefused) return refusedPreflight(error);
        throw error;
      }
      const { origin } = request;
      if (method !== 'GET') {
        const reason = `${method} is not sent, and no report of ${origin.host} covers it`;
        return answerFromStore(request, reason);
      }
      const coolDownReason = await findCoolDownReason(origin);
      if (coolDownReason !== null) return answerFromStore(request, coolDownReason);
      const answer = await runInTurn(origin, client, (admit) =>
        askSeller({ ...request, method }, admit),
      );
      return answer?.preflight ?? answerFromStore(request, BUSY_REASON);
    },

    /** Judges the first URL that the origin's documents sell by GET. */
    async judgeHost(origin: Origin, client: Client) {
      const coolDownReason = await findCoolDownReason(origin);
      if (coolDownReason !== null) return { path: null, preflight: notAsked(coolDownReason) };
      const answer = await runInTurn(origin, client, (admit) => askHost(origin, admit));
      return { path: answer?.path ?? null, preflight: answer?.preflight ?? notAsked(BUSY_REASON) };
    },
  };
}
