import { OriginRefused } from '../../scanner/guard/failures.ts';
import type { Origin, OriginPolicy } from '../../scanner/guard/origin.ts';
import type { HostPreflight } from '../../scanner/preflight/preflight.ts';
import {
  type Preflight,
  type PreflightRequest,
  parsePreflightUrl,
  toNotAsked,
  toRefused,
} from '../../scanner/preflight/result.ts';
import { findFreshReport } from '../directory/published-report.ts';
import type { Store } from '../store/store.ts';
import type { Client } from './client-key.ts';
import { unlessLimited } from './in-turn.ts';
import type { OriginTurns, TurnClient } from './origin-turns.ts';

/** Sends one GET, and judges the answer. */
export type AskSeller = (request: GetPreflightRequest, client: TurnClient) => Promise<Preflight>;

type GetPreflightRequest = PreflightRequest & { readonly method: 'GET' };

type PreflightCall = {
  readonly url: string;
  readonly method: string;
  readonly maxPrice: string | null;
  readonly client: Client;
};

/** Reads a host's documents, and sends a GET to a URL that they sell. */
export type AskHost = (origin: Origin, client: TurnClient) => Promise<HostPreflight>;

export type PreflightRunner = ReturnType<typeof createPreflightRunner>;

type PreflightRunnerOptions = {
  readonly store: Store;
  readonly policy: OriginPolicy;
  readonly askSeller: AskSeller;
  readonly askHost: AskHost;
  readonly turns: OriginTurns;
};

/** Shortest time between two preflights of a host. There is a limit because calls are free and anonymous. */
const COOL_DOWN_MS = 5_000;
/** A call that would wait longer gets an answer from the stored report. */
const MAX_WAIT_MS = 1_000;

const BUSY_REASON = 'too many sellers are asked at once: ask again in a few seconds';

export function createPreflightRunner(options: PreflightRunnerOptions) {
  const { store, policy, askSeller, askHost, turns } = options;

  async function answerFromStore(request: PreflightRequest, reason: string): Promise<Preflight> {
    const { host, url } = request.origin;
    const report = await findFreshReport(store, host);
    if (report?.report.origin !== url) return toNotAsked(reason);
    // This module imports the parsers of offers, so it is loaded with the first preflight.
    const { decideByReport } = await import('../../scanner/preflight/preflight-verdict.ts');
    return decideByReport(request, report.report) ?? toNotAsked(reason);
  }

  /** Resolves to null if the wait for a turn is too long. */
  function askInTurn<Answer>(
    origin: Origin,
    { block }: Client,
    ask: (client: TurnClient) => Promise<Answer>,
  ): Promise<Answer | null> {
    const request = { origin, blocks: new Set([block]), withinMs: MAX_WAIT_MS };
    return unlessLimited(turns.ask(request, ask));
  }

  /** Begins the cool-down of a host; resolves to null. If an earlier call has begun it, resolves to a refusal. */
  async function beginCoolDown({ host }: Origin): Promise<string | null> {
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
        if (error instanceof OriginRefused) return toRefused(error);
        throw error;
      }
      const { origin } = request;
      if (method !== 'GET') {
        const reason = `${method} is not sent, and no report of ${origin.host} covers it`;
        return answerFromStore(request, reason);
      }
      const refusal = await beginCoolDown(origin);
      if (refusal !== null) return answerFromStore(request, refusal);
      const preflight = await askInTurn(origin, client, (turnClient) =>
        askSeller({ ...request, method }, turnClient),
      );
      return preflight ?? answerFromStore(request, BUSY_REASON);
    },

    /** Judges the first URL that the origin's documents sell by GET. */
    async judgeHost(origin: Origin, client: Client): Promise<HostPreflight> {
      const refusal = await beginCoolDown(origin);
      if (refusal !== null) return { path: null, preflight: toNotAsked(refusal) };
      const answer = await askInTurn(origin, client, (turnClient) => askHost(origin, turnClient));
      return answer ?? { path: null, preflight: toNotAsked(BUSY_REASON) };
    },
  };
}
