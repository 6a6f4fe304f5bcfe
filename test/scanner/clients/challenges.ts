/** Challenges as sellers send them, for the clients to try. */

import {
  type ListedChallenges,
  listChallenges,
} from '../../../src/scanner/clients/list-challenges.ts';
import type { JsonObject, JsonValue } from '../../../src/scanner/parse/json/json.ts';
import {
  answer,
  challenge402,
  challengeV2,
  offer,
  PAY_TO,
  resource,
  resources,
} from '../../fixtures/observations/build-observations.ts';

export const SOLANA_KEY = 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd';
export const SOLANA = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde',
  extra: { feePayer: SOLANA_KEY },
};
export const AUTH_CAPTURE = {
  name: 'USD Coin',
  version: '2',
  captureAuthorizer: PAY_TO,
  feeRecipient: PAY_TO,
  captureDeadline: 2_000_000_000,
  refundDeadline: 2_000_000_000,
  minFeeBps: 0,
  maxFeeBps: 100,
};

/** One GET resource with this challenge in its header. */
export function inHeader(challenge: JsonValue): ListedChallenges {
  const members = typeof challenge === 'object' && challenge !== null ? challenge : {};
  const get = challenge402(members as JsonObject);
  return listChallenges(resources([resource({ get, head: [] })]));
}

export function inBody(challenge: JsonObject): ListedChallenges {
  return listChallenges(resources([resource({ get: answer(402, challenge), head: [] })]));
}

/** A good challenge whose offers differ from a good one by these members; null is not an offer at all. */
export function offering(...changes: readonly (JsonObject | null)[]): ListedChallenges {
  return inHeader(
    challengeV2({ accepts: changes.map((change) => (change === null ? null : offer(change))) }),
  );
}
