/** Both stores: a lease is the only slot of its scope. */
import { describe, expect, test } from 'vitest';
import type { Slot, SlotOutcome } from '../../../../src/service/store/slots.ts';
import type { Store } from '../../../../src/service/store/store.ts';
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

export function leasesHaveOneHolder(subject: ContractSubject): void {
  describe('leases', () => {
    test('have one holder, and the next after a release', async () => {
      const store = await joined(subject);
      const first = slotOf(await take(store));
      const second = await take(store);
      expect(second).toMatchObject({ taken: false, holder: { attempt: first.attempt } });
      expect(await store.slots.isHeld(first)).toBe(true);
      await store.slots.release(first);
      expect(await store.slots.isHeld(first)).toBe(false);
      expect((await take(store)).taken).toBe(true);
    });

    test('end when they expire; the late holder cannot end the next one', async () => {
      const clock = new TestClock();
      const store = await joined(subject, clock);
      const first = slotOf(await take(store));
      expect(first).toMatchObject({
        takenAtMs: clock.now(),
        expiresAtMs: clock.now() + LIFETIME_MS,
        owner: store.info.owner,
      });
      clock.advance(LIFETIME_MS - 1);
      expect((await take(store)).taken).toBe(false);
      clock.advance(1);
      expect(await store.slots.isHeld(first)).toBe(false);
      const second = slotOf(await take(store));
      await store.slots.release(first);
      expect(await store.slots.isHeld(second)).toBe(true);
    });

    test('pass to the next process when the process that holds them is gone', async () => {
      const store = await joined(subject);
      const first = slotOf(await take(store));
      const again = await subject.restart(store);
      await again.instances.join({ settings: SETTINGS });
      expect(await again.slots.isHeld(first)).toBe(false);
      expect((await take(again)).taken).toBe(true);
    });
  });

  describe('instances', () => {
    test('know which other instances are alive', async () => {
      const store = await joined(subject);
      expect(await store.instances.isAlive(store.info.owner)).toBe(true);
      expect(await store.instances.isAlive({ host: store.info.owner.host, boot: 'before' })).toBe(
        false,
      );
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

async function joined(subject: ContractSubject, clock?: TestClock): Promise<Store> {
  const store = await subject.fresh(clock ? { clock: clock.now } : {});
  await store.instances.join({ settings: SETTINGS });
  return store;
}

function take(store: Store): Promise<SlotOutcome> {
  return store.slots.lease(['scan', 'a.com'], LIFETIME_MS);
}

function slotOf(outcome: SlotOutcome): Slot {
  if (outcome.taken) return outcome.slot;
  throw new Error(`held by ${outcome.holder.owner.boot}`);
}
