/** Both stores: numbered slots. */
import { describe, expect, test } from 'vitest';
import type { SlotRequest } from '../../../../src/service/store/slots.ts';
import type { ContractSubject } from './subject.ts';
import { HOUR_MS, MINUTE_MS, TestClock } from './test-clock.ts';

const SCOPE = ['open-claim', '0xpayer'];
const REQUEST: SlotRequest = {
  scope: SCOPE,
  limit: 5,
  lifetimeMs: HOUR_MS,
  endsWithOwner: false,
};

export function slotsBound(subject: ContractSubject): void {
  describe('slots', () => {
    test('never exceed the limit, however many race for them', async () => {
      const clock = new TestClock();
      const { slots } = await subject.fresh({ clock: clock.now });
      const retryAtMs = clock.now() + HOUR_MS;
      const racers = Array.from({ length: 20 }, () => slots.take(REQUEST));
      const outcomes = await Promise.all(racers);
      const taken = outcomes.flatMap((outcome) => (outcome.taken ? [outcome.slot.n] : []));
      expect(taken.sort()).toEqual([0, 1, 2, 3, 4]);
      const refused = outcomes.filter((outcome) => !outcome.taken);
      for (const outcome of refused) expect(outcome).toMatchObject({ taken: false, retryAtMs });
      expect(await slots.findLive(SCOPE)).toHaveLength(5);
      expect((await slots.take({ ...REQUEST, scope: ['open-claim', '0xother'] })).taken).toBe(true);
    });

    test('are free again once released or expired, and not before', async () => {
      const clock = new TestClock();
      const { slots } = await subject.fresh({ clock: clock.now });
      const one = { ...REQUEST, limit: 1 };
      const first = await slots.take({ ...one, data: 'first' });
      if (!first.taken) throw new Error('nothing was taken');
      await slots.release(first.slot);
      const second = await slots.take({ ...one, data: 'second' });
      // A late release does not free the slot of the next holder.
      await slots.release(first.slot);
      expect((await slots.findLive(SCOPE)).map(({ data }) => data)).toEqual(['second']);
      expect(second.taken).toBe(true);
      clock.advance(HOUR_MS - 1);
      expect((await slots.take(one)).taken).toBe(false);
      clock.advance(1);
      expect(await slots.findLive(SCOPE)).toEqual([]);
      expect((await slots.take(one)).taken).toBe(true);
    });

    test('are given again to a taker whose reply was lost', async () => {
      const { slots } = await subject.fresh();
      const request = { ...REQUEST, limit: 1, attempt: 'attempt of this slot' };
      const first = await slots.take(request);
      expect(first.taken).toBe(true);
      expect(await slots.take(request)).toEqual(first);
    });

    test('count all that are taken if the limit has shrunk, or grown', async () => {
      const clock = new TestClock();
      const { slots } = await subject.fresh({ clock: clock.now });
      for (let n = 0; n < 3; n += 1) await slots.take(REQUEST);
      expect((await slots.take({ ...REQUEST, limit: 2 })).taken).toBe(false);
      expect((await slots.take({ ...REQUEST, limit: 4 })).taken).toBe(true);
    });

    test('of work end with the process that took them, and those of events do not', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      await store.slots.take({ ...REQUEST, endsWithOwner: true, data: 'work' });
      await store.slots.take({ ...REQUEST, data: 'event' });
      const { slots } = await subject.restart(store, { clock: clock.now });
      clock.advance(MINUTE_MS);
      expect((await slots.findLive(SCOPE)).map(({ data }) => data)).toEqual(['event']);
    });

    test('of one group are read together', async () => {
      const clock = new TestClock();
      const { slots } = await subject.fresh({ clock: clock.now });
      await slots.take({ ...REQUEST, scope: ['token', 'a.com', 'c1'], group: 'a.com', data: '1' });
      clock.advance(1);
      await slots.take({ ...REQUEST, scope: ['token', 'a.com', 'c2'], group: 'a.com', data: '2' });
      await slots.take({ ...REQUEST, scope: ['token', 'b.com', 'c1'], group: 'b.com', data: '3' });
      const live = await slots.findLive({ group: 'a.com' });
      expect(live.map(({ data }) => data)).toEqual(['1', '2']);
    });
  });
}
