import { describe, expect, test } from 'vitest';
import type { Grade } from '../../../src/scanner/model/report.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { publishedScan } from './contract/samples.ts';
import { dropDatabase, freshDatabase, startServerForFile } from './mongo-subject.ts';

const server = await startServerForFile();

describe('the directory of a store on MongoDB', server.needed, () => {
  test("counts the hosts of a search anew after another instance publishes a host, or after a host's owner hides it", async () => {
    const url = freshDatabase(server.uri);
    const [reader, writer] = [await openStore(url), await openStore(url)];
    try {
      const count = async (q: string) => (await reader.directory.list({ ...PAGE_QUERY, q })).count;
      await writer.publish(publishedScan({ host: 'a.example.com' }));
      expect(await count('example')).toBe(1);
      await writer.publish(publishedScan({ host: 'b.example.com' }));
      expect([await count('example'), await count('b.ex'), await count('c.ex')]).toEqual([2, 1, 0]);
      await writer.listing.set('a.example.com', { listed: false });
      expect(await count('example')).toBe(1);
      expect(await count('EXAMPLE')).toBe(1);
    } finally {
      for (const store of [reader, writer]) await store.close();
      await dropDatabase(url);
    }
  });

  test('counts the same hosts as a count by hand after two instances published and hid hosts at once', async () => {
    const url = freshDatabase(server.uri);
    const stores = [await openStore(url), await openStore(url)] as const;
    try {
      await Promise.all(stores.map((store, index) => publishAndHide(store, index)));
      const hosts = Array.from({ length: 6 }, (_, n) => `h${n}.example.com`);
      const records = await Promise.all(hosts.map((host) => stores[0].directory.get(host)));
      const listed = records.filter((record) => record?.listed);
      for (const { directory } of stores) {
        for (const q of ['', 'example']) {
          const { count, records: page } = await directory.list({ ...PAGE_QUERY, q });
          expect([count, page.length]).toEqual([listed.length, listed.length]);
        }
        const grades = await directory.countByGrade();
        expect(grades.A).toBe(listed.filter((record) => record?.grade === 'A').length);
      }
    } finally {
      for (const store of stores) await store.close();
      await dropDatabase(url);
    }
  });
});

const PAGE_QUERY = { sort: 'recent', page: 0, pageSize: 100 } as const;

async function publishAndHide(
  store: Awaited<ReturnType<typeof openStore>>,
  index: number,
): Promise<void> {
  const grades: readonly Grade[] = ['A', 'B', 'F'];
  for (let n = 0; n < 12; n += 1) {
    const host = `h${(n * 5 + index) % 6}.example.com`;
    const grade = grades[(n + index) % 3] ?? 'A';
    const listing = store.directory.list({ ...PAGE_QUERY, q: n % 2 ? '' : 'example' });
    await store.publish(publishedScan({ host, grade, scannedAtMs: 1_000 + n }));
    if (n % 4 === index) await store.listing.set(host, { listed: n % 8 > 3 });
    await listing;
  }
}
