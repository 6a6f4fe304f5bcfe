/** Both stores: proof of domain control: tokens, failures, confirms. */
import { describe, expect, it } from 'vitest';
import {
  CHALLENGE_FETCHES_PER_HOUR,
  FAILED_CONFIRMS_PER_HOUR,
  LIVE_TOKENS_PER_HOST_AND_CLIENT,
  TOKEN_LIFETIME_MS,
} from '../../../src/store/contract/ownership.ts';
import type { ContractSubject } from './subject.ts';
import { HOUR_MS, MINUTE_MS, TestClock } from './test-clock.ts';

const PAIR = { host: 'api.example.com', client: 'client-1' };

export function ownershipCounts(subject: ContractSubject): void {
  describe('ownership', () => {
    it('keeps every live token of a host, of all clients, until it expires', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      const startMs = clock.now();
      await store.ownership.issueToken({ ...PAIR, tokenHash: 'h1' });
      clock.advance(MINUTE_MS);
      await store.ownership.issueToken({ ...PAIR, client: 'client-2', tokenHash: 'h2' });
      await store.ownership.issueToken({ ...PAIR, host: 'other.com', tokenHash: 'h3' });
      const { ownership } = await subject.restart(store, { clock: clock.now });
      expect(await ownership.liveTokens(PAIR.host)).toEqual([
        { tokenHash: 'h1', client: 'client-1', expiresAtMs: startMs + TOKEN_LIFETIME_MS },
        {
          tokenHash: 'h2',
          client: 'client-2',
          expiresAtMs: startMs + MINUTE_MS + TOKEN_LIFETIME_MS,
        },
      ]);
      clock.advance(TOKEN_LIFETIME_MS - MINUTE_MS - 1);
      expect(await ownership.liveTokens(PAIR.host)).toHaveLength(2);
      clock.advance(1);
      expect((await ownership.liveTokens(PAIR.host)).map((token) => token.tokenHash)).toEqual([
        'h2',
      ]);
    });

    it('issues 8 tokens to a host and client at once, and a ninth when one expires', async () => {
      const clock = new TestClock();
      const { ownership } = await subject.fresh({ clock: clock.now });
      const issue = (n: number) => ownership.issueToken({ ...PAIR, tokenHash: `h${n}` });
      const firstMs = clock.now();
      expect(await issue(0)).toEqual({ taken: true, atMs: firstMs });
      clock.advance(MINUTE_MS);
      const rest = await Promise.all(Array.from({ length: 12 }, (_, index) => issue(index + 1)));
      expect(rest.filter((outcome) => outcome.taken)).toHaveLength(
        LIVE_TOKENS_PER_HOST_AND_CLIENT - 1,
      );
      expect(await issue(20)).toEqual({ taken: false, retryAtMs: firstMs + TOKEN_LIFETIME_MS });
      expect((await ownership.issueToken({ ...PAIR, client: 'c2', tokenHash: 'x' })).taken).toBe(
        true,
      );
      clock.advance(TOKEN_LIFETIME_MS - MINUTE_MS);
      expect((await issue(21)).taken).toBe(true);
      expect((await issue(22)).taken).toBe(false);
    });

    it('counts 5 failed confirms per host, client and hour', async () => {
      const clock = new TestClock();
      const { ownership } = await subject.fresh({ clock: clock.now });
      const firstMs = clock.now();
      expect(await ownership.failedConfirms(PAIR)).toEqual({ used: 0, retryAtMs: null });
      for (let n = 0; n < FAILED_CONFIRMS_PER_HOUR; n += 1) {
        expect((await ownership.noteFailedConfirm(PAIR)).taken).toBe(true);
        clock.advance(MINUTE_MS);
      }
      const retryAtMs = firstMs + HOUR_MS;
      expect(await ownership.noteFailedConfirm(PAIR)).toEqual({ taken: false, retryAtMs });
      expect(await ownership.failedConfirms(PAIR)).toEqual({ used: 5, retryAtMs });
      const owner = { ...PAIR, client: 'the-owner' };
      expect(await ownership.failedConfirms(owner)).toEqual({ used: 0, retryAtMs: null });
      clock.advance(retryAtMs - clock.now());
      expect(await ownership.failedConfirms(PAIR)).toEqual({ used: 4, retryAtMs: null });
      expect((await ownership.noteFailedConfirm(PAIR)).taken).toBe(true);
    });

    it('allows 60 challenge fetches per host and hour, whoever races for them', async () => {
      const clock = new TestClock();
      const { ownership } = await subject.fresh({ clock: clock.now });
      const atMs = clock.now();
      const racers = Array.from({ length: CHALLENGE_FETCHES_PER_HOUR + 10 }, () =>
        ownership.takeChallengeFetch(PAIR.host),
      );
      const outcomes = await Promise.all(racers);
      expect(outcomes.filter((outcome) => outcome.taken)).toHaveLength(CHALLENGE_FETCHES_PER_HOUR);
      expect(outcomes.find((outcome) => !outcome.taken)).toEqual({
        taken: false,
        retryAtMs: atMs + HOUR_MS,
      });
      expect((await ownership.takeChallengeFetch('other.com')).taken).toBe(true);
      clock.advance(HOUR_MS);
      expect((await ownership.takeChallengeFetch(PAIR.host)).taken).toBe(true);
    });

    it('remembers the last confirm, after a restart too', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      expect(await store.ownership.lastConfirm(PAIR.host)).toBeNull();
      await store.ownership.recordConfirm({ host: PAIR.host, tokenHash: 'h1' });
      const atMs = clock.advance(MINUTE_MS);
      await store.ownership.recordConfirm({ host: PAIR.host, tokenHash: 'h2' });
      const again = await subject.restart(store, { clock: clock.now });
      expect(await again.ownership.lastConfirm(PAIR.host)).toEqual({ atMs, tokenHash: 'h2' });
    });
  });
}
