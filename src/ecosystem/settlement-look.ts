/** What the sources of settlements together say of an origin: one look, from the one to go by. */

import type { Look, SettlementFacts } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import type { Origin } from '../origin/origin.ts';
import type { AnswerShelf } from './answer-shelf.ts';
import type { Asking } from './ask.ts';
import { isSettlementFacts } from './kept-shapes.ts';
import { lookInTurn } from './look-in-turn.ts';
import { type SettlementSource, WINDOW_DAYS } from './settlement-source.ts';

const CACHE_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * The first source in order that saw a settlement in the window; else the one that answered for the
 * longest window; else what failed.
 */
export async function settlementLook(
  sources: readonly SettlementSource[],
  origin: Origin,
  payees: readonly Payee[],
  shelf: AnswerShelf,
  asking: Asking,
): Promise<Look<SettlementFacts>> {
  if (sources.length === 0) return { state: 'off', why: 'switched-off' };
  const questions = sources.flatMap(({ name, question }) => {
    const asked = question(origin, payees);
    return asked === null ? [] : [{ source: name, ...asked }];
  });
  const looks = await lookInTurn(
    questions.map(
      ({ source, key, ask }) =>
        () =>
          shelf.look({
            source,
            key,
            cacheMs: CACHE_MS,
            isAnswer: isSettlementFacts,
            ask: () => ask(asking),
          }),
    ),
    sawSettlement,
  );
  const telling = looks.find(sawSettlement);
  const [widest] = looks
    .filter((look) => look.state === 'seen')
    .sort((one, other) => other.data.windowDays - one.data.windowDays);
  return telling ?? widest ?? failure(sources, looks);
}

/** The window ends when the source was asked, not now: an outage later changes nothing. */
function sawSettlement(look: Look<SettlementFacts>): boolean {
  if (look.state !== 'seen') return false;
  const agoMs = Date.parse(look.asOf) - Date.parse(look.data.lastAt ?? '');
  return look.data.settlements > 0 || agoMs <= WINDOW_DAYS * DAY_MS;
}

function failure(
  sources: readonly SettlementSource[],
  looks: readonly Look<SettlementFacts>[],
): Look<SettlementFacts> {
  const failed = looks.filter((look) => look.state === 'failed');
  if (failed.length === 0) {
    const source = namesOf(sources.map(({ name }) => name));
    return { state: 'failed', source, detail: 'asked by recipient, and this origin names none' };
  }
  return {
    state: 'failed',
    source: namesOf(failed.map((look) => look.source)),
    detail: [...new Set(failed.map((look) => look.detail))].join('; '),
  };
}

function namesOf(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
}
