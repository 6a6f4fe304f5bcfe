/** Both stores: versions of watches, and the texts that come with them. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/contract/store.ts';
import { ENDED_WATCH_MS, type WatchVersion } from '../../../src/store/contract/watches.ts';
import type { ContractSubject } from './subject.ts';
import { HOUR_MS, TestClock } from './test-clock.ts';

const RACERS = 20;

function versionOf(n: number, more: Partial<WatchVersion> = {}): WatchVersion {
  return {
    host: 'api.example.com',
    n,
    lookAtMs: null,
    sendAtMs: null,
    endedAtMs: null,
    receiver: 'hooks.example.com',
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
    it('has the version with the greatest number, after a restart too', async () => {
      const store = await subject.fresh();
      expect(await store.watches.newest('api.example.com')).toBeNull();
      expect(await append(store, versionOf(1, { lookAtMs: 7 }))).toBe('won');
      expect(await append(store, versionOf(2, { sendAtMs: 8 }), ['one'])).toBe('won');
      const { watches } = await subject.restart(store);
      expect(await watches.newest('api.example.com')).toEqual(versionOf(2, { sendAtMs: 8 }));
      expect(await watches.text('one')).toBe('text of one');
      expect(await watches.newest('other.com')).toBeNull();
    });

    it('lets one of many racers win a number, and keeps the texts of the winner alone', async () => {
      const store = await subject.fresh();
      const ids = Array.from({ length: RACERS }, (_, racer) => `text ${racer}`);
      const outcomes = await Promise.all(ids.map((id) => append(store, versionOf(1), [id])));
      expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(1);
      const texts = await Promise.all(ids.map((id) => store.watches.text(id)));
      const kept = ids.filter((_, racer) => texts[racer] !== null);
      expect(kept).toEqual([ids[outcomes.indexOf('won')]]);
    });

    it('drops texts that a version does not refer to any more', async () => {
      const store = await subject.fresh();
      await append(store, versionOf(1), ['one', 'two']);
      const change = { attempt: randomUUID(), texts: [], dropped: ['one'] };
      await store.watches.append(versionOf(2), change);
      expect(await store.watches.text('one')).toBeNull();
      expect(await store.watches.text('two')).toBe('text of two');
    });

    it('tells what is due, earliest first, and nothing of replaced versions', async () => {
      const store = await subject.fresh();
      const hosts = ['c.com', 'a.com', 'b.com'];
      for (const [index, host] of hosts.entries()) {
        await append(store, versionOf(1, { host, lookAtMs: 100 + index, sendAtMs: 300 - index }));
      }
      await append(store, versionOf(2, { host: 'a.com' }));
      const dueHosts = async (duty: 'lookAtMs' | 'sendAtMs', upToMs: number, limit = 9) =>
        (await store.watches.due(duty, upToMs, limit)).map(({ host }) => host);
      expect(await dueHosts('lookAtMs', 99)).toEqual([]);
      expect(await dueHosts('lookAtMs', 100)).toEqual(['c.com']);
      expect(await dueHosts('lookAtMs', 200)).toEqual(['c.com', 'b.com']);
      expect(await dueHosts('sendAtMs', 300)).toEqual(['b.com', 'c.com']);
      expect(await dueHosts('sendAtMs', 300, 1)).toEqual(['b.com']);
      expect(await store.watches.count()).toBe(2);
    });

    it('purges replaced versions after an hour, and a watch 30 days after its end', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      await append(store, versionOf(1), ['one']);
      const endedAtMs = clock.now();
      await append(store, versionOf(2, { endedAtMs }), ['two']);
      await append(store, versionOf(1, { host: 'alive.com' }), ['three']);
      clock.advance(HOUR_MS);
      expect((await store.purge(clock.now())).other).toBe(1);
      expect(await store.watches.text('one')).not.toBeNull();
      await store.purge(endedAtMs + ENDED_WATCH_MS - 1);
      expect(await store.watches.newest('api.example.com')).not.toBeNull();
      await store.purge(endedAtMs + ENDED_WATCH_MS);
      expect(await store.watches.newest('api.example.com')).toBeNull();
      expect(await store.watches.text('two')).toBeNull();
      expect(await store.watches.newest('alive.com')).not.toBeNull();
      expect(await store.watches.text('three')).not.toBeNull();
    });
  });
}
