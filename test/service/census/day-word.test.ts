/** The word of a day follows the rows of the rule, in their order of precedence. */
import { describe, expect, test } from 'vitest';
import type { FailureReason } from '../../../src/scanner/model/observation.ts';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import type { DayWord, PayableBy } from '../../../src/scanner/model/payability.ts';
import {
  type ResourceSign,
  toDayWord,
  toScanDayWord,
} from '../../../src/service/scans/day-word.ts';
import {
  answer,
  failure,
  html,
  perfectSeller,
  resource,
  resources,
} from '../../fixtures/observations/build-observations.ts';

const answerSign = (status: number): ResourceSign => ({ status, reason: null, payableBy: null });
const challengeSign = (payableBy: PayableBy): ResourceSign => ({ ...answerSign(402), payableBy });
const silentSign = (reason: FailureReason): ResourceSign => ({ ...NO_SIGN, reason });
const NO_SIGN: ResourceSign = { status: null, reason: null, payableBy: null };

describe('the word of one resource is that of', () => {
  test.each<readonly [string, ResourceSign, DayWord]>([
    ['a challenge that default clients sign', challengeSign('default'), 'payable'],
    ['a challenge that clients sign with settings', challengeSign('settings'), 'not_payable'],
    ['a challenge that nobody can pay', challengeSign('nobody'), 'not_payable'],
    ['a challenge that no client of ours can judge', challengeSign('unknown'), 'not_checked'],
    ['402 of another protocol', answerSign(402), 'not_payable'],
    ['200', answerSign(200), 'not_payable'],
    ['204', answerSign(204), 'not_payable'],
    ['a redirect that is not followed', answerSign(302), 'not_payable'],
    ['399', answerSign(399), 'not_payable'],
    ['400', answerSign(400), 'not_checked'],
    ['401', answerSign(401), 'not_checked'],
    ['403', answerSign(403), 'not_checked'],
    ['404', answerSign(404), 'not_payable'],
    ['405', answerSign(405), 'not_payable'],
    ['410', answerSign(410), 'not_payable'],
    ['422', answerSign(422), 'not_checked'],
    ['429', answerSign(429), 'not_checked'],
    ['499', answerSign(499), 'not_checked'],
    ['500', answerSign(500), 'down'],
    ['503', answerSign(503), 'down'],
    ['no address', silentSign('dns'), 'down'],
    ['a refused connection', silentSign('refused'), 'down'],
    ['no answer in time', silentSign('timeout'), 'down'],
    ['a connection that is cut', silentSign('reset'), 'down'],
    ['an expired certificate', silentSign('tls-expired'), 'down'],
    ['a malformed answer', silentSign('malformed'), 'down'],
    ['redirects in a circle', silentSign('redirect-loop'), 'not_payable'],
    ['a redirect that the guard refuses', silentSign('redirect-refused'), 'not_payable'],
    ['a limit of ours', silentSign('budget'), 'not_checked'],
    ['a request that waits for a Retry-After', silentSign('rate-limited'), 'not_checked'],
    ['no request', NO_SIGN, 'not_checked'],
  ])('%s', (_, sign, word) => {
    expect(toDayWord([sign])).toBe(word);
  });
});

test('without a request the word is not_checked', () => {
  expect(toDayWord([])).toBe('not_checked');
});

const SIGN_OF_WORD: Readonly<Record<DayWord, ResourceSign>> = {
  payable: challengeSign('default'),
  down: answerSign(500),
  not_payable: answerSign(404),
  not_checked: answerSign(401),
};

describe('the word of two resources, in either order, with the words', () => {
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
  ])('%s and %s: %s', (oneWord, otherWord, word) => {
    expect(toDayWord([SIGN_OF_WORD[oneWord], SIGN_OF_WORD[otherWord]])).toBe(word);
    expect(toDayWord([SIGN_OF_WORD[otherWord], SIGN_OF_WORD[oneWord]])).toBe(word);
  });
});

describe('a scan', () => {
  const scanOf = (changes: Partial<Observations>): Observations => ({
    ...perfectSeller(),
    payability: { clients: [], resources: [], silent: [] },
    ...changes,
  });
  const resourceWith = (path: string, get: ReturnType<typeof answer>) => resource({ path, get });
  const payabilityOf = (path: string, payableBy: PayableBy) => ({
    payability: {
      clients: [],
      resources: [{ method: 'GET', path, payableBy, words: null, offers: [] }],
      silent: [],
    },
  });

  test('is payable if default clients sign for one of its resources, even if a later resource fails', () => {
    const probed = [resource({ path: '/a' }), resourceWith('/b', answer(429))];
    const observations = scanOf({ resources: resources(probed), ...payabilityOf('/a', 'default') });
    expect(toScanDayWord(observations)).toBe('payable');
  });

  test.each<readonly [PayableBy, DayWord]>([
    ['settings', 'not_payable'],
    ['nobody', 'not_payable'],
    ['unknown', 'not_checked'],
  ])('whose challenge is payable by "%s" has the word %s', (payableBy, word) => {
    const observations = scanOf({
      resources: resources([resource({ path: '/a' })]),
      ...payabilityOf('/a', payableBy),
    });
    expect(toScanDayWord(observations)).toBe(word);
  });

  test.each<readonly [string, number, DayWord]>([
    ['is gone', 404, 'not_payable'],
    ['is free', 200, 'not_payable'],
    ['is private', 401, 'not_checked'],
    ['is broken', 500, 'down'],
  ])('whose only resource %s', (_, status, word) => {
    expect(
      toScanDayWord(scanOf({ resources: resources([resourceWith('/a', answer(status))]) })),
    ).toBe(word);
  });

  test('of an origin that gave no answer at all is down', () => {
    const refused = failure('refused');
    const { origin, probing, resources: _, ...answers } = perfectSeller();
    const refusedAnswers = Object.fromEntries(
      Object.entries(answers).map(([name, value]) => [
        name,
        'ok' in Object(value) ? refused : value,
      ]),
    );
    const silentScan = scanOf({
      ...refusedAnswers,
      openapiAlternates: [],
      resources: resources([resource({ path: '/a', get: refused, head: [], post: [] })]),
    });
    expect(toScanDayWord(silentScan)).toBe('down');
  });

  test('that found nothing for sale is not payable if the site answers, and down if the site fails', () => {
    expect(toScanDayWord(scanOf({ resources: resources([]) }))).toBe('not_payable');
    const broken = scanOf({ resources: resources([]), root: html(502, '') });
    expect(toScanDayWord(broken)).toBe('down');
  });
});
