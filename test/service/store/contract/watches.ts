/** Both stores: versions of watches, and the texts that come with them. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../../src/service/store/store.ts';
import { ENDED_WATCH_KEPT_MS, type WatchVersion } from '../../../../src/service/store/watches.ts';
import type { ContractSubject } from './subject.ts';
import { freshWithClock, HOUR_MS } from './test-clock.ts';

const RACERS = 20;

function versionOf(n: number, more: Partial<WatchVersion> = {}): WatchVersion {
  return {
    host: 'api.example.com',
    n,
    lookAtMs: null,
    sendAtMs: null,
    endedAtMs: null,
    isConfirming: false,
    receiver: 'hooks.example.com',
    domain: 'example.com',
    client: 'client',
    holdsPlace: false,
    state: { 'a.b$c': n },
    ...more,
  };
}

function append(store: Store, version: WatchVersion, texts: readonly string[] = []) {
  return store.watches.append(version, {
    attempt: randomUUID(),
    texts: texts.map((id) => ({ id, text: `text of ${id}` })),
    dropped: [],
  });
}

export function watchesAreVersioned(subject: ContractSubject): void {
  describe('watches', () => {
    test('keep the version with the greatest number, after a restart too', async () => {
      const store = await subject.fresh();
      expect(await store.watches.findNewest('api.example.com')).toBeNull();
      expect(await append(store, versionOf(1, { lookAtMs: 7 }))).toBe('won');
      expect(await append(store, versionOf(2, { sendAtMs: 8 }), ['one'])).toBe('won');
      const { watches } = await subject.restart(store);
      expect(await watches.findNewest('api.example.com')).toEqual(versionOf(2, { sendAtMs: 8 }));
      expect(await watches.findText('one')).toBe('text of one');
      expect(await watches.findNewest('other.com')).toBeNull();
    });

    test('let one of many racers win a number, and keep only the texts of the winner', async () => {
      const store = await subject.fresh();
      const ids = Array.from({ length: RACERS }, (_, racer) => `text ${racer}`);
      const outcomes = await Promise.all(ids.map((id) => append(store, versionOf(1), [id])));
      expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(1);
      const texts = await Promise.all(ids.map((id) => store.watches.findText(id)));
      const kept = ids.filter((_, racer) => texts[racer] !== null);
      expect(kept).toEqual([ids[outcomes.indexOf('won')]]);
    });

    test('drop texts that a version no longer refers to', async () => {
      const store = await subject.fresh();
      await append(store, versionOf(1), ['one', 'two']);
      const change = { attempt: randomUUID(), texts: [], dropped: ['one'] };
      await store.watches.append(versionOf(2), change);
      expect(await store.watches.findText('one')).toBeNull();
      expect(await store.watches.findText('two')).toBe('text of two');
    });

    test('list the hosts whose look is due, confirming looks first, then earliest first', async () => {
      const store = await subject.fresh();
      const hosts = ['c.com', 'a.com', 'b.com'];
      for (const [index, host] of hosts.entries()) {
        await append(store, versionOf(1, { host, lookAtMs: 100 + index }));
      }
      await append(store, versionOf(2, { host: 'a.com' }));
      const due = (upToMs: number, limit = 9, except: readonly string[] = []) =>
        store.watches.findDueLooks({ upToMs, limit, except });
      expect(await due(99)).toEqual([]);
      expect(await due(100)).toEqual(['c.com']);
      expect(await due(200)).toEqual(['c.com', 'b.com']);
      expect(await due(200, 9, ['c.com'])).toEqual(['b.com']);
      expect(await due(200, 1)).toEqual(['c.com']);
      const confirming = { isConfirming: true };
      await append(store, versionOf(1, { host: 'd.com', lookAtMs: 150, ...confirming }));
      expect(await due(200)).toEqual(['d.com', 'c.com', 'b.com']);
      expect(await due(200, 1)).toEqual(['d.com']);
      expect(await store.watches.findFirstDueMs('lookAtMs')).toBe(100);
      expect(await store.watches.findFirstDueMs('sendAtMs')).toBeNull();
    });

    test('list receivers once each, however many of their watches are due', async () => {
      const store = await subject.fresh();
      const send = (n: number, receiver: string, sendAtMs: number) =>
        append(store, versionOf(1, { host: `shop${n}.com`, receiver, sendAtMs }));
      for (let n = 0; n < 250; n += 1) await send(n, 'busy.dev', 100 + n);
      await send(250, 'late.dev', 500);
      await send(251, 'early.dev', 50);
      const due = (upToMs: number, limit: number, except: readonly string[] = []) =>
        store.watches.findDueReceivers({ upToMs, limit, except });
      expect(await due(1_000, 9)).toEqual(['early.dev', 'busy.dev', 'late.dev']);
      expect(await due(400, 9)).toEqual(['early.dev', 'busy.dev']);
      expect(await due(1_000, 1)).toEqual(['early.dev']);
      expect(await due(1_000, 1, ['early.dev', 'busy.dev'])).toEqual(['late.dev']);
      const sends = await store.watches.findDueDeliveries('busy.dev', { upToMs: 101, limit: 9 });
      expect(sends.map(({ host }) => host)).toEqual(['shop0.com', 'shop1.com']);
      expect(
        await store.watches.findDueDeliveries('busy.dev', { upToMs: 1_000, limit: 1 }),
      ).toHaveLength(1);
    });

    test('count live watches of a domain, a receiver and a client; replaced and ended ones do not count', async () => {
      const store = await subject.fresh();
      const rows = [
        { host: 'a.com', domain: 'a.com', client: 'one', holdsPlace: true },
        { host: 'b.com', domain: 'b.com', client: 'one' },
        { host: 'c.b.com', domain: 'b.com', client: 'two' },
        { host: 'd.com', domain: 'd.com', client: 'two', receiver: 'other.dev' },
        { host: 'e.com', domain: 'b.com', client: 'one', endedAtMs: 7 },
      ];
      for (const row of rows) await append(store, versionOf(1, row));
      const live = async (which: Parameters<Store['watches']['findLive']>[0], limit = 9) =>
        (await store.watches.findLive(which, limit)).map(({ host }) => host).toSorted();
      const receiver = 'hooks.example.com';
      expect(await live({ domain: 'b.com' })).toEqual(['b.com', 'c.b.com']);
      expect(await live({ receiver })).toEqual(['a.com', 'b.com', 'c.b.com']);
      expect(await live({ receiver, holdsPlace: true })).toEqual(['a.com']);
      expect(await live({ receiver, client: 'one', holdsPlace: false })).toEqual(['b.com']);
      expect(await live({ receiver }, 2)).toHaveLength(2);
      await append(store, versionOf(2, { host: 'b.com', domain: 'b.com', receiver: 'other.dev' }));
      expect(await live({ receiver, client: 'one', holdsPlace: false })).toEqual([]);
      expect(await live({ receiver: 'other.dev' })).toEqual(['b.com', 'd.com']);
    });

    test('are purged: replaced versions after an hour, and a watch 30 days after its end', async () => {
      const { clock, store } = await freshWithClock(subject);
      await append(store, versionOf(1), ['one']);
      const endedAtMs = clock.now();
      await append(store, versionOf(2, { endedAtMs }), ['two']);
      await append(store, versionOf(1, { host: 'alive.com' }), ['three']);
      clock.advance(HOUR_MS);
      expect((await store.purge(clock.now())).other).toBe(1);
      expect(await store.watches.findText('one')).not.toBeNull();
      await store.purge(endedAtMs + ENDED_WATCH_KEPT_MS - 1);
      expect(await store.watches.findNewest('api.example.com')).not.toBeNull();
      await store.purge(endedAtMs + ENDED_WATCH_KEPT_MS);
      expect(await store.watches.findNewest('api.example.com')).toBeNull();
      expect(await store.watches.findText('two')).toBeNull();
      expect(await store.watches.findNewest('alive.com')).not.toBeNull();
      expect(await store.watches.findText('three')).not.toBeNull();
    });
  });
}
