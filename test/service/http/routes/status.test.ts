/** GET /v1/status answers the grade of one origin. */
import { describe, expect, test } from 'vitest';
import { parseOrigin } from '../../../../src/scanner/guard/origin.ts';
import { MEMORY, openSqlite } from '../../../../src/service/store/sqlite/store.ts';
import { DAY_MS, startApp } from '../../../fixtures/service/start-app.ts';
import { measureStoreCost } from '../../payment/store-meter.ts';

describe.each(['0.1.0', '0.3.0'] as const)(
  'interface spec 2.1 and 4.1, /v1/status, %s',
  (revision) => {
    test('an unscanned origin is unknown, and the answer names its report page', async () => {
      await using service = await startApp({ revision });
      const answer = await service.get('/v1/status?url=https://shop.example.com/weather?x=1');
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toEqual({
        origin: 'https://shop.example.com',
        known: false,
        fresh: false,
        grade: null,
        score: null,
        passCount: null,
        warnCount: null,
        failCount: null,
        scannedAt: null,
        reportUrl: 'https://scanner.example/o/shop.example.com',
      });
    });

    test('a published scan is known and fresh for 24 hours, and then only known', async () => {
      await using service = await startApp({ revision });
      const scannedAt = new Date(service.now()).toISOString();
      await service.publish('shop.example.com', { grade: 'B', score: 85 });
      const url = '/v1/status?url=shop.example.com';
      const freshStatus = {
        origin: 'https://shop.example.com',
        known: true,
        fresh: true,
        grade: 'B',
        score: 85,
        passCount: 20,
        warnCount: 3,
        failCount: 2,
        scannedAt,
        reportUrl: 'https://scanner.example/o/shop.example.com',
      };
      expect((await service.get(url)).json()).toEqual(freshStatus);
      service.advance(DAY_MS - 1);
      expect((await service.get(url)).json()).toEqual(freshStatus);
      service.advance(1);
      expect((await service.get(url)).json()).toEqual({ ...freshStatus, fresh: false });
    });

    test('a scan that nobody paid for leaves the origin unknown', async () => {
      await using service = await startApp({ revision });
      await service.scanCoordinator.run(parseOrigin('shop.example.com'));
      expect((await service.get('/v1/status?url=shop.example.com')).json().known).toBe(false);
    });
  },
);

test('a status costs one SQL statement', async () => {
  await using service = await startApp();
  await service.publish('shop.example.com');
  const url = '/v1/status?url=shop.example.com';
  await service.get(url);
  const { statements, rows } = await measureStoreCost(() => service.get(url));
  expect({ statements, rows }).toEqual({ statements: 1, rows: 1 });
});

test('a report page and a status each make one read of the directory', async () => {
  let reads = 0;
  await using service = await startApp({
    openStore: async (clock) => {
      const store = openSqlite(MEMORY, { clock });
      const get: typeof store.directory.get = (host) => {
        reads += 1;
        return store.directory.get(host);
      };
      const findGrade: typeof store.directory.findGrade = (host) => {
        reads += 1;
        return store.directory.findGrade(host);
      };
      return { ...store, directory: { ...store.directory, get, findGrade } };
    },
  });
  await service.publish('shop.example.com');
  reads = 0;
  await service.get('/o/shop.example.com');
  expect(reads).toBe(1);
  await service.get('/v1/status?url=shop.example.com');
  expect(reads).toBe(2);
});
