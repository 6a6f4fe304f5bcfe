/** Both stores: leases, one insert a turn. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Lease, LeaseOutcome } from '../../../src/store/leases.ts';
import type { Store } from '../../../src/store/store.ts';
import type { ContractSubject } from './subject.ts';
import { TestClock } from './test-clock.ts';

const LIFETIME_MS = 75_000;
const SETTINGS = {
  revision: '0.3.0',
  network: 'eip155:8453',
  asset: '0xasset',
  payTo: '0xpayto',
  baseUrl: 'http://127.0.0.1:4021',
  catalog: '2026-08-14.2',
  signingKey: 'kept in the store',
};

export function leasesTakeTurns(subject: ContractSubject): void {
  describe('leases', () => {
    it('has one holder, and the next turn after a release', async () => {
      const store = await joined(subject);
      const first = held(await take(store));
      const second = await take(store);
      expect(second).toEqual({ held: false, heldBy: first });
      expect(await store.leases.isHeld(first)).toBe(true);
      await store.leases.release(first);
      expect(await store.leases.isHeld(first)).toBe(false);
      expect(held(await take(store)).turn).toBe(2);
    });

    it('lets exactly one of many racers hold it', async () => {
      const store = await joined(subject);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => take(store)));
      expect(outcomes.filter((outcome) => outcome.held)).toHaveLength(1);
    });

    it('keeps names apart', async () => {
      const store = await joined(subject);
      expect((await take(store, 'scan:a.com')).held).toBe(true);
      expect((await take(store, 'scan:b.com')).held).toBe(true);
    });

    it('tells a taker whose reply was lost that it holds the lease', async () => {
      const store = await joined(subject);
      const attempt = randomUUID();
      const request = { name: 'scan:a.com', attempt, lifetimeMs: LIFETIME_MS };
      const first = held(await store.leases.take(request));
      expect(held(await store.leases.take(request))).toEqual(first);
    });

    it('ends when it expires; the late holder cannot end the next turn', async () => {
      const clock = new TestClock();
      const store = await joined(subject, clock);
      const first = held(await take(store));
      expect(first).toMatchObject({
        takenAtMs: clock.now(),
        expiresAtMs: clock.now() + LIFETIME_MS,
        owner: store.info.owner,
      });
      clock.advance(LIFETIME_MS - 1);
      expect((await take(store)).held).toBe(false);
      clock.advance(1);
      expect(await store.leases.isHeld(first)).toBe(false);
      const second = held(await take(store));
      await store.leases.release(first);
      expect(await store.leases.isHeld(second)).toBe(true);
    });

    it('passes to the next process when its owner is gone', async () => {
      const store = await joined(subject);
      const first = held(await take(store));
      const again = await subject.restart(store);
      await again.instances.join({ settings: SETTINGS });
      expect(await again.leases.isHeld(first)).toBe(false);
      expect(held(await take(again)).turn).toBe(2);
    });
  });

  describe('hosts', () => {
    it('know who lives', async () => {
      const store = await joined(subject);
      expect(await store.instances.isAlive(store.info.owner)).toBe(true);
      expect(await store.instances.isAlive({ host: store.info.owner.host, boot: 'before' })).toBe(
        false,
      );
    });

    it('answer a ping, and refuse everything when closed', async () => {
      const store = await subject.fresh();
      await store.ping();
      await store.close();
      await store.close();
      await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
      await expect(store.ledger.entry('k')).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
}

async function joined(subject: ContractSubject, clock?: TestClock): Promise<Store> {
  const store = await subject.fresh(clock ? { clock: clock.now } : {});
  await store.instances.join({ settings: SETTINGS });
  return store;
}

function take(store: Store, name = 'scan:a.com'): Promise<LeaseOutcome> {
  return store.leases.take({ name, attempt: randomUUID(), lifetimeMs: LIFETIME_MS });
}

function held(outcome: LeaseOutcome): Lease {
  if (outcome.held) return outcome.lease;
  throw new Error(`held by turn ${outcome.heldBy.turn}`);
}
