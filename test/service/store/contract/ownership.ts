/** Both stores: proof of domain control: tokens, failures, confirms. */
import { describe, expect, test } from 'vitest';
import {
  FAILED_CONFIRMS_PER_HOUR,
  LIVE_TOKENS_PER_HOST,
  LIVE_TOKENS_PER_HOST_AND_CLIENT,
  READING_SPACING_MS,
  TOKEN_LIFETIME_MS,
} from '../../../../src/service/store/ownership.ts';
import { issuedToken } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { freshWithClock, HOUR_MS, MINUTE_MS, TestClock } from './test-clock.ts';

const PAIR = { host: 'api.example.com', client: 'client-1' };

export function ownershipCounts(subject: ContractSubject): void {
  describe('ownership', () => {
    test('keeps every live token of a host, of all clients, until it expires', async () => {
      const { clock, store } = await freshWithClock(subject);
      const startMs = clock.now();
      const { host } = PAIR;
      await store.ownership.issueToken({ host, ...issuedToken('h1') });
      clock.advance(MINUTE_MS);
      await store.ownership.issueToken({ host, ...issuedToken('h2', 'client-2') });
      await store.ownership.issueToken({ host: 'other.com', ...issuedToken('h3') });
      const { ownership } = await subject.restart(store, { clock: clock.now });
      expect(await ownership.findLiveTokens(PAIR.host)).toEqual([
        { ...issuedToken('h1'), expiresAtMs: startMs + TOKEN_LIFETIME_MS },
        {
          ...issuedToken('h2', 'client-2'),
          expiresAtMs: startMs + MINUTE_MS + TOKEN_LIFETIME_MS,
        },
      ]);
      clock.advance(TOKEN_LIFETIME_MS - MINUTE_MS - 1);
      expect(await ownership.findLiveTokens(PAIR.host)).toHaveLength(2);
      clock.advance(1);
      expect((await ownership.findLiveTokens(PAIR.host)).map((token) => token.tokenHash)).toEqual([
        'h2',
      ]);
    });

    test('issues 8 tokens to a host and client at once, and a ninth when one expires', async () => {
      const { clock, ownership } = await freshWithClock(subject);
      const issue = (n: number) =>
        ownership.issueToken({ host: PAIR.host, ...issuedToken(`h${n}`) });
      const firstMs = clock.now();
      expect(await issue(0)).toMatchObject({ taken: true, lease: { takenAtMs: firstMs } });
      clock.advance(MINUTE_MS);
      const rest = await Promise.all(Array.from({ length: 12 }, (_, index) => issue(index + 1)));
      expect(rest.filter((outcome) => outcome.taken)).toHaveLength(
        LIVE_TOKENS_PER_HOST_AND_CLIENT - 1,
      );
      expect(await issue(20)).toMatchObject({
        taken: false,
        retryAtMs: firstMs + TOKEN_LIFETIME_MS,
      });
      const other = { host: PAIR.host, ...issuedToken('x', 'client-2') };
      expect((await ownership.issueToken(other)).taken).toBe(true);
      clock.advance(TOKEN_LIFETIME_MS - MINUTE_MS);
      expect((await issue(21)).taken).toBe(true);
      expect((await issue(22)).taken).toBe(false);
    });

    test('counts 5 failed confirms per host, client and hour', async () => {
      const { clock, ownership } = await freshWithClock(subject);
      const firstMs = clock.now();
      expect(await ownership.countFailedConfirms(PAIR)).toEqual({ used: 0, retryAtMs: null });
      for (let n = 0; n < FAILED_CONFIRMS_PER_HOUR; n += 1) {
        expect((await ownership.recordFailedConfirm(PAIR, clock.now())).taken).toBe(true);
        clock.advance(MINUTE_MS);
      }
      const retryAtMs = firstMs + HOUR_MS;
      expect(await ownership.recordFailedConfirm(PAIR, clock.now())).toMatchObject({
        taken: false,
        retryAtMs,
      });
      expect(await ownership.countFailedConfirms(PAIR)).toEqual({ used: 5, retryAtMs });
      const owner = { ...PAIR, client: 'the-owner' };
      expect(await ownership.countFailedConfirms(owner)).toEqual({ used: 0, retryAtMs: null });
      clock.advance(retryAtMs - clock.now());
      expect(await ownership.countFailedConfirms(PAIR)).toEqual({ used: 4, retryAtMs: null });
      expect((await ownership.recordFailedConfirm(PAIR, clock.now())).taken).toBe(true);
    });

    test('counts one fetch as at most one failure of a client', async () => {
      const { clock, ownership } = await freshWithClock(subject);
      const beganAtMs = clock.now();
      for (let n = 0; n < 3; n += 1) await ownership.recordFailedConfirm(PAIR, beganAtMs);
      expect((await ownership.countFailedConfirms(PAIR)).used).toBe(1);
      await ownership.recordFailedConfirm(PAIR, beganAtMs + 1);
      await ownership.recordFailedConfirm({ ...PAIR, client: 'client-2' }, beganAtMs);
      expect((await ownership.countFailedConfirms(PAIR)).used).toBe(2);
    });

    test('begins fetches of one host 10 s apart, even if many callers race', async () => {
      const { clock, ownership } = await freshWithClock(subject);
      const atMs = clock.now();
      const retryAtMs = atMs + READING_SPACING_MS;
      expect(await ownership.findReadingDueAtMs(PAIR.host)).toBe(0);
      const racers = Array.from({ length: 6 }, () => ownership.beginReading(PAIR.host));
      const outcomes = await Promise.all(racers);
      expect(outcomes.filter((outcome) => outcome.taken)).toMatchObject([
        { lease: { takenAtMs: atMs } },
      ]);
      const refused = outcomes.filter((outcome) => !outcome.taken);
      for (const outcome of refused) expect(outcome).toMatchObject({ taken: false, retryAtMs });
      expect(await ownership.findReadingDueAtMs(PAIR.host)).toBe(retryAtMs);
      expect((await ownership.beginReading('other.com')).taken).toBe(true);
      clock.advance(READING_SPACING_MS - 1);
      expect((await ownership.beginReading(PAIR.host)).taken).toBe(false);
      clock.advance(1);
      expect((await ownership.beginReading(PAIR.host)).taken).toBe(true);
    });

    test('remembers for a minute the tokens that fetches found', async () => {
      const { clock, store } = await freshWithClock(subject);
      const finding = { beganAtMs: clock.now(), finding: '{"kind":"served"}' };
      await store.ownership.saveFinding(PAIR.host, finding);
      await store.ownership.saveFinding('other.com', finding);
      const { ownership } = await subject.restart(store, { clock: clock.now });
      expect(await ownership.readFindings(PAIR.host)).toEqual([finding]);
      clock.advance(MINUTE_MS);
      expect(await ownership.readFindings(PAIR.host)).toEqual([]);
    });

    test('keeps 256 live tokens of a host: the oldest of the fullest block goes', async () => {
      const { clock, ownership } = await freshWithClock(subject);
      const { host } = PAIR;
      const hashes = async () =>
        (await ownership.findLiveTokens(host)).map(({ tokenHash }) => tokenHash);
      const issue = async (tokenHash: string, block: string) => {
        clock.advance(1);
        const token = issuedToken(tokenHash, `client of ${tokenHash}`, block);
        expect((await ownership.issueToken({ host, ...token })).taken).toBe(true);
      };
      await issue('owner', 'home');
      for (let n = 1; n < LIVE_TOKENS_PER_HOST; n += 1) await issue(`flood-${n}`, 'flood');
      expect(await hashes()).toHaveLength(LIVE_TOKENS_PER_HOST);
      await issue('another', 'office');
      await issue('flood-256', 'flood');
      const live = await hashes();
      expect(live).toHaveLength(LIVE_TOKENS_PER_HOST);
      expect(live.slice(0, 2)).toEqual(['owner', 'flood-3']);
      expect(live.slice(-2)).toEqual(['another', 'flood-256']);
    });

    test('dates a confirm by the first one of its token, and a repetition does not prolong it', async () => {
      const { clock, store } = await freshWithClock(subject);
      expect(await store.ownership.findLastConfirm(PAIR.host)).toBeNull();
      const firstMs = clock.now();
      await store.ownership.recordConfirm(PAIR.host, issuedToken('h1', 'owner'));
      const secondMs = clock.advance(MINUTE_MS);
      const second = {
        atMs: secondMs,
        tokenHash: 'h2',
        keyHash: 'key of h2',
        client: 'client-1',
      };
      expect(await store.ownership.recordConfirm(PAIR.host, issuedToken('h2'))).toEqual(second);
      clock.advance(MINUTE_MS);
      expect(await store.ownership.recordConfirm(PAIR.host, issuedToken('h2'))).toEqual(second);
      // A token that was found earlier keeps its earlier date.
      await store.ownership.recordConfirm(PAIR.host, issuedToken('h1', 'owner'));
      const again = await subject.restart(store, { clock: clock.now });
      expect(await again.ownership.findLastConfirm(PAIR.host)).toEqual(second);
      expect(secondMs).toBeGreaterThan(firstMs);
    });

    test('knows which settings a listing key made', async () => {
      const store = await subject.fresh({ clock: new TestClock().now });
      const { listing } = store;
      expect((await listing.get(PAIR.host)).tokenHashes).toEqual({});
      await listing.set(PAIR.host, { listed: false }, 'h1');
      await listing.set(PAIR.host, { enrichmentSuppressed: true });
      expect((await listing.get(PAIR.host)).tokenHashes).toEqual({ listed: 'h1' });
      await listing.set(PAIR.host, { enrichmentSuppressed: true }, 'h2');
      await listing.set(PAIR.host, { listed: true });
      expect((await listing.get(PAIR.host)).tokenHashes).toEqual({ enrichmentSuppressed: 'h2' });
    });
  });
}
