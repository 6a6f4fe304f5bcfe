/** Both stores: numbered leases, which end with a release, with time, or with the process that holds them. */
import { describe, expect, test } from 'vitest';
import type { LeaseRequest } from '../../../../src/service/store/leases.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import type { ContractSubject } from './subject.ts';
import { freshWithClock, HOUR_MS, MINUTE_MS } from './test-clock.ts';

const SCOPE = ['open-claim', '0xpayer'];
const REQUEST: LeaseRequest = {
  scope: SCOPE,
  limit: 5,
  lifetimeMs: HOUR_MS,
  endsWithOwner: false,
};

export function leasesBound(subject: ContractSubject): void {
  describe('leases', () => {
    test('never exceed the limit, however many race for them', async () => {
      const { clock, leases } = await freshWithClock(subject);
      const retryAtMs = clock.now() + HOUR_MS;
      const racers = Array.from({ length: 20 }, () => leases.take(REQUEST));
      const outcomes = await Promise.all(racers);
      const taken = outcomes.flatMap((outcome) => (outcome.taken ? [outcome.lease.n] : []));
      expect(taken.sort()).toEqual([0, 1, 2, 3, 4]);
      const refused = outcomes.filter((outcome) => !outcome.taken);
      for (const outcome of refused) expect(outcome).toMatchObject({ taken: false, retryAtMs });
      expect(await leases.findLive(SCOPE)).toHaveLength(5);
      expect((await leases.take({ ...REQUEST, scope: ['open-claim', '0xother'] })).taken).toBe(
        true,
      );
    });

    test('have one holder, until it releases them', async () => {
      const { leases } = await subject.fresh();
      const first = await takeSole(leases);
      expect(await leases.takeSole(SCOPE, HOUR_MS)).toMatchObject({
        taken: false,
        holder: { attempt: first.attempt },
      });
      expect(await leases.isHeld(first)).toBe(true);
      await leases.release(first);
      expect(await leases.isHeld(first)).toBe(false);
      const second = await takeSole(leases);
      // A late release does not end the lease of the next holder.
      await leases.release(first);
      expect(await leases.isHeld(second)).toBe(true);
    });

    test('end when their lifetime is over, and not before', async () => {
      const { clock, leases, info } = await freshWithClock(subject);
      const first = await takeSole(leases);
      expect(first).toMatchObject({
        takenAtMs: clock.now(),
        expiresAtMs: clock.now() + HOUR_MS,
        owner: info.owner,
      });
      clock.advance(HOUR_MS - 1);
      expect((await leases.takeSole(SCOPE, HOUR_MS)).taken).toBe(false);
      clock.advance(1);
      expect(await leases.isHeld(first)).toBe(false);
      expect(await leases.findLive(SCOPE)).toEqual([]);
      await takeSole(leases);
    });

    test('are given again to a taker whose reply was lost', async () => {
      const { leases } = await subject.fresh();
      const request = { ...REQUEST, limit: 1, attempt: 'attempt of this lease' };
      const first = await leases.take(request);
      expect(first.taken).toBe(true);
      expect(await leases.take(request)).toEqual(first);
    });

    test('count all that are taken if the limit has shrunk, or grown', async () => {
      const { leases } = await subject.fresh();
      for (let n = 0; n < 3; n += 1) await leases.take(REQUEST);
      expect((await leases.take({ ...REQUEST, limit: 2 })).taken).toBe(false);
      expect((await leases.take({ ...REQUEST, limit: 4 })).taken).toBe(true);
    });

    test('of work end with the process that took them, and those of events do not', async () => {
      const { clock, store } = await freshWithClock(subject);
      const work = await takeSole(store.leases);
      await store.leases.take({ ...REQUEST, data: 'event' });
      const { leases } = await subject.restart(store, { clock: clock.now });
      clock.advance(MINUTE_MS);
      expect(await leases.isHeld(work)).toBe(false);
      expect((await leases.findLive(SCOPE)).map(({ data }) => data)).toEqual(['event']);
    });

    test('of one group are read together', async () => {
      const { clock, leases } = await freshWithClock(subject);
      await leases.take({ ...REQUEST, scope: ['token', 'a.com', 'c1'], group: 'a.com', data: '1' });
      clock.advance(1);
      await leases.take({ ...REQUEST, scope: ['token', 'a.com', 'c2'], group: 'a.com', data: '2' });
      await leases.take({ ...REQUEST, scope: ['token', 'b.com', 'c1'], group: 'b.com', data: '3' });
      const live = await leases.findLive({ group: 'a.com' });
      expect(live.map(({ data }) => data)).toEqual(['1', '2']);
    });
  });

  describe('instances', () => {
    test('know which other instances are alive', async () => {
      const { instances, info } = await subject.fresh();
      expect(await instances.isAlive(info.owner)).toBe(true);
      expect(await instances.isAlive({ host: info.owner.host, boot: 'before' })).toBe(false);
    });

    test('answer a ping, and refuse everything when closed', async () => {
      const store = await subject.fresh();
      await store.ping();
      await store.close();
      await store.close();
      await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(store.ledger.findEntry('k')).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
}

async function takeSole(leases: Store['leases']) {
  const outcome = await leases.takeSole(SCOPE, HOUR_MS);
  if (outcome.taken) return outcome.lease;
  throw new Error(`held by ${outcome.holder.owner.boot}`);
}
