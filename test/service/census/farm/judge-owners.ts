/** The promises to owners, and to sellers whose listings strangers fill. */
import type { Findings } from './judge-words.ts';
import type { Seen, Verdict } from './judges.ts';
import type { Played } from './play.ts';
import { FARMS, WEEK_DAYS } from './world.ts';

const FARM_ORIGINS = 20;

export function judgeWishes({ sellers, wish, firstDay, days, hosts }: Played, seen: Seen): Verdict {
  const [from, to] = wish;
  const isOver = days > to;
  const shy = sellers.filter(({ standing }) => standing === 'opted-out');
  const wished = seen.log.filter(({ name, day }) => {
    const isWished = day - firstDay >= from && day - firstDay < to;
    return isWished && seen.seller(name).standing === 'opted-out';
  });
  const back = shy.filter(({ name }) => isOver && seen.of(name, firstDay + to).length === 0);
  const excluded = seen.log.filter(({ name }) => seen.seller(name).standing === 'excluded');
  const crowded = FARMS.map((farm) => {
    const asked = new Set(
      seen.log.filter(({ name }) => name.endsWith(farm)).map(({ name }) => name),
    );
    return { farm, asked: asked.size };
  }).filter(({ asked }) => asked !== FARM_ORIGINS);
  return {
    promise: 'an owner’s wish, CENSUS_EXCLUDE and 20 origins a domain hold',
    facts: `${shy.length} owners, 2 farms, ${hosts.length} origins kept`,
    breaches: [
      ...wished.map(
        ({ name, day }) => `${name} was asked on day ${day} against the wish of its owner`,
      ),
      ...back.map(({ name }) => `${name} was not asked after its owner's wish ended`),
      ...excluded.map(({ name }) => `${name} was asked although the operator leaves it out`),
      ...crowded.map(({ farm, asked }) => `${asked} origins of ${farm} were asked`),
    ],
  };
}

/** Once the wish of an owner is stored, no request, word or record follows. */
export function judgeLeavers({ sellers, left, log, records }: Played, seen: Seen): Verdict {
  const leavers = sellers.filter(({ standing }) => standing === 'leaver');
  const duringScans = [...left].filter(([name, { day }]) => seen.scans.has(`${name} ${day}`));
  const shown = new Set(records);
  const asked = [...left].flatMap(([name, { logLength }]) =>
    log
      .slice(logLength)
      .flatMap((one) => (one.name === name ? [`${one.method} ${name}${one.path}`] : [])),
  );
  return {
    promise: 'an owner who leaves at any moment is asked no more, and nothing is shown',
    facts: `${left.size} of ${leavers.length} owners left during a request, ${duringScans.length} of them on the day of a scan`,
    breaches: [
      ...asked.map((request) => `${request} after the owner had left`),
      ...[...left.keys()].filter((name) => shown.has(name)).map((name) => `${name} has a record`),
    ],
  };
}

/** A seller whose rows are behind those of strangers is payable on each day after a scan has read his documents. */
export function judgeStrangers(
  { words, firstDay, days }: Played,
  seen: Seen,
  found: Findings,
): Verdict {
  const beset = [...seen.sellers.values()].filter(
    ({ kind, standing }) => kind.strangerRows !== undefined && standing === 'asked',
  );
  const payable = new Set(
    words.filter(({ word }) => word === 'payable').map(({ host, day }) => `${host} ${day}`),
  );
  const allDays = Array.from({ length: days }, (_, at) => firstDay + at);
  const judged = beset.flatMap(({ name }) => {
    const scanDay = allDays.find(
      (day) => seen.scans.has(`${name} ${day}`) && payable.has(`${name} ${day}`),
    );
    const after = scanDay === undefined ? [] : allDays.filter((day) => day > scanDay);
    return after.map((day) => `${name} ${day}`);
  });
  const isOver = days > WEEK_DAYS + 1;
  const judgedNames = new Set(judged.map((key) => key.split(' ')[0]));
  return {
    promise: 'rows of strangers take no place of a seller',
    facts: `${judged.length} days of ${beset.length} sellers behind 40 rows each, after their first scans`,
    breaches: [
      ...judged
        .filter((key) => !payable.has(key) && !OURS.has(found.get(key) ?? ''))
        .map((key) => `${key} is not payable`),
      ...beset
        .filter(({ name }) => isOver && !judgedNames.has(name))
        .map(({ name }) => `${name} was not scanned`),
    ],
  };
}

/** Our own failures, which the judge of words has found. */
const OURS: ReadonlySet<string> = new Set(['cut off', 'our outage']);
