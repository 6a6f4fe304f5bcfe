/** The word of a day follows the rows of the rule, in their order of precedence. */
import { describe, expect, test } from 'vitest';
import type { DayWord } from '../../src/model/availability.ts';
import type { FailureReason } from '../../src/model/observation.ts';
import type { Observations } from '../../src/model/observations.ts';
import type { PayableBy } from '../../src/model/payability.ts';
import { type ResourceSign, toDayWord, toScanDayWord } from '../../src/scan/day-word.ts';
import {
  answer,
  failure,
  html,
  perfectSeller,
  resource,
  resources,
} from '../fixtures/observations/build-observations.ts';

const answered = (status: number): ResourceSign => ({ status, reason: null, payableBy: null });
const challenged = (payableBy: PayableBy): ResourceSign => ({ ...answered(402), payableBy });
const silent = (reason: FailureReason): ResourceSign => ({ ...NO_SIGN, reason });
const NO_SIGN: ResourceSign = { status: null, reason: null, payableBy: null };

describe('one resource', () => {
  test.each<readonly [string, ResourceSign, DayWord]>([
    ['a challenge that default clients sign', challenged('default'), 'payable'],
    ['a challenge that clients sign with settings', challenged('settings'), 'not_payable'],
    ['a challenge that nobody can pay', challenged('nobody'), 'not_payable'],
    ['a challenge that no client of ours can judge', challenged('unknown'), 'not_checked'],
    ['402 of another protocol', answered(402), 'not_payable'],
    ['200', answered(200), 'not_payable'],
    ['204', answered(204), 'not_payable'],
    ['a redirect that is not followed', answered(302), 'not_payable'],
    ['399', answered(399), 'not_payable'],
    ['400', answered(400), 'not_checked'],
    ['401', answered(401), 'not_checked'],
    ['403', answered(403), 'not_checked'],
    ['404', answered(404), 'not_payable'],
    ['405', answered(405), 'not_payable'],
    ['410', answered(410), 'not_payable'],
    ['422', answered(422), 'not_checked'],
    ['429', answered(429), 'not_checked'],
    ['499', answered(499), 'not_checked'],
    ['500', answered(500), 'down'],
    ['503', answered(503), 'down'],
    ['no address', silent('dns'), 'down'],
    ['a refused connection', silent('refused'), 'down'],
    ['no answer in time', silent('timeout'), 'down'],
    ['a connection that is cut', silent('reset'), 'down'],
    ['an expired certificate', silent('tls-expired'), 'down'],
    ['a malformed answer', silent('malformed'), 'down'],
    ['redirects in a circle', silent('redirect-loop'), 'not_payable'],
    ['a redirect that the guard refuses', silent('redirect-refused'), 'not_payable'],
    ['a limit of ours', silent('budget'), 'not_checked'],
    ['a request that waits for a Retry-After', silent('rate-limited'), 'not_checked'],
    ['no request', NO_SIGN, 'not_checked'],
  ])('%s', (_, sign, word) => {
    expect(toDayWord([sign])).toBe(word);
  });
});

test('without a request the word is not_checked', () => {
  expect(toDayWord([])).toBe('not_checked');
});

const OF_WORD: Readonly<Record<DayWord, ResourceSign>> = {
  payable: challenged('default'),
  down: answered(500),
  not_payable: answered(404),
  not_checked: answered(401),
};

describe('two resources, in either order', () => {
  test.each<readonly [DayWord, DayWord, DayWord]>([
    ['payable', 'payable', 'payable'],
    ['payable', 'down', 'payable'],
    ['payable', 'not_payable', 'payable'],
    ['payable', 'not_checked', 'payable'],
    ['down', 'down', 'down'],
    ['down', 'not_payable', 'not_payable'],
    ['down', 'not_checked', 'not_checked'],
    ['not_payable', 'not_payable', 'not_payable'],
    ['not_payable', 'not_checked', 'not_payable'],
    ['not_checked', 'not_checked', 'not_checked'],
  ])('%s and %s: %s', (one, other, word) => {
    expect(toDayWord([OF_WORD[one], OF_WORD[other]])).toBe(word);
    expect(toDayWord([OF_WORD[other], OF_WORD[one]])).toBe(word);
  });
});

describe('a scan', () => {
  const scanOf = (changes: Partial<Observations>): Observations => ({
    ...perfectSeller(),
    payability: { clients: [], resources: [], silent: [] },
    ...changes,
  });
  const paid = (path: string, get: ReturnType<typeof answer>) => resource({ path, get });
  const judged = (path: string, payableBy: PayableBy) => ({
    payability: {
      clients: [],
      resources: [{ method: 'GET', path, payableBy, words: null, offers: [] }],
      silent: [],
    },
  });

  test('is payable if default clients sign for one of its resources, even if a later resource fails', () => {
    const probed = [resource({ path: '/a' }), paid('/b', answer(429))];
    const seen = scanOf({ resources: resources(probed), ...judged('/a', 'default') });
    expect(toScanDayWord(seen)).toBe('payable');
  });

  test.each<readonly [PayableBy, DayWord]>([
    ['settings', 'not_payable'],
    ['nobody', 'not_payable'],
    ['unknown', 'not_checked'],
  ])('whose challenge is %s is %s', (payableBy, word) => {
    const seen = scanOf({
      resources: resources([resource({ path: '/a' })]),
      ...judged('/a', payableBy),
    });
    expect(toScanDayWord(seen)).toBe(word);
  });

  test.each<readonly [string, number, DayWord]>([
    ['is gone', 404, 'not_payable'],
    ['is free', 200, 'not_payable'],
    ['is private', 401, 'not_checked'],
    ['is broken', 500, 'down'],
  ])('whose only resource %s', (_, status, word) => {
    expect(toScanDayWord(scanOf({ resources: resources([paid('/a', answer(status))]) }))).toBe(
      word,
    );
  });

  test('of an origin that gave no answer at all is down', () => {
    const gone = failure('refused');
    const { origin, probing, resources: _, ...seen } = perfectSeller();
    const nothing = Object.fromEntries(
      Object.entries(seen).map(([name, value]) => [name, 'ok' in Object(value) ? gone : value]),
    );
    const silentScan = scanOf({
      ...nothing,
      openapiAlternates: [],
      resources: resources([resource({ path: '/a', get: gone, head: [], post: [] })]),
    });
    expect(toScanDayWord(silentScan)).toBe('down');
  });

  test('that found nothing for sale is not payable if the site answers', () => {
    expect(toScanDayWord(scanOf({ resources: resources([]) }))).toBe('not_payable');
    const broken = scanOf({ resources: resources([]), root: html(502, '') });
    expect(toScanDayWord(broken)).toBe('down');
  });
});
