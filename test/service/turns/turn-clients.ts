/** Clients of turns for tests: fake ones that open no socket, and real ones. */
import type { Address } from '../../../src/scanner/guard/name-servers.ts';
import {
  createProbeClient,
  type ProbeClient,
  type ProbeClientOptions,
  type ProbeRequest,
} from '../../../src/scanner/probe/client/client.ts';
import { NO_STATS } from '../../../src/scanner/probe/client/messages.ts';
import {
  createOriginTurns,
  type OpenTurnClient,
  type OriginTurns,
} from '../../../src/service/turns/origin-turns.ts';
import { answer, NOT_FOUND } from '../../fixtures/observations/build-observations.ts';

export type FakeNetwork = {
  /** By default names have no address of their own, so no limit of a network applies. */
  readonly addressOf?: (host: string) => Address | null;
  /** The text that a request gets with status 200; null for a 404. Default: null. */
  readonly answer?: (request: ProbeRequest) => Promise<string | null> | string | null;
  /** Processor time of the handshakes of a client. */
  readonly handshakeMs?: () => number;
};

/** Opens clients that send nothing. */
export function openFakeClient(network: FakeNetwork = {}): OpenTurnClient {
  return async () => ({
    async resolveOrigin({ host }) {
      const address = network.addressOf?.(host) ?? null;
      return { kind: 'addresses', addresses: address === null ? [] : [address] };
    },
    async request(request) {
      const text = (await network.answer?.(request)) ?? null;
      return text === null ? NOT_FOUND : answer(200, text);
    },
    stats: () => ({ ...NO_STATS, handshakeMs: network.handshakeMs?.() ?? 0 }),
    close: () => undefined,
  });
}

/** Opens clients that send requests. */
export function openRealClient(options: ProbeClientOptions): OpenTurnClient {
  return async (_kind, limits) => createProbeClient({ ...options, limits });
}

/** Turns that never wait, because their clock moves on whenever it is read. */
export function createFreeTurns(openClient: OpenTurnClient): OriginTurns {
  let nowMs = 0;
  const now = () => {
    nowMs += 1_000;
    return nowMs;
  };
  return createOriginTurns({ now, countPaidScans: () => 0, openClient });
}

export async function withRealClient<Result>(
  options: ProbeClientOptions,
  work: (client: ProbeClient) => Promise<Result>,
): Promise<Result> {
  const client = createProbeClient(options);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
