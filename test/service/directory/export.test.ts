/** The export is one JSON document of all listed origins. */
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { exportDirectory } from '../../../src/service/directory/export.ts';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';

async function readExport(service: TestApp, limit?: number) {
  const { body, ...facts } = await exportDirectory(service.store, 'https://scanner.example', limit);
  return { facts, document: JSON.parse(await text(body)) };
}

test('interface spec 2.3 and 4.2: the export has every record with its history, oldest first', async () => {
  await using service = await startApp();
  const firstScanAt = new Date(service.now()).toISOString();
  await service.publish('a.example.com', { grade: 'B', score: 82 });
  service.advance(60_000);
  const secondScanAt = new Date(service.now()).toISOString();
  await service.publish('a.example.com', { grade: 'A', score: 91 });
  await service.publish('b.example.com', { grade: 'F', score: 3 });

  const { document } = await readExport(service);
  expect(document).toMatchObject({
    count: 2,
    truncated: false,
    exportedAt: secondScanAt,
    disclaimer: expect.any(String),
    provenance: expect.any(String),
  });
  const project = document.projects.find(({ host }: { host: string }) => host === 'a.example.com');
  const { gradeHistory, firstSeenAt, scanCount, ...record } = project;
  expect(record).toEqual((await service.get('/v1/directory?q=a.example.com')).json().projects[0]);
  expect({ gradeHistory, firstSeenAt, scanCount }).toEqual({
    firstSeenAt: firstScanAt,
    scanCount: 2,
    gradeHistory: [
      { grade: 'B', score: 82, scannedAt: firstScanAt, checksVersion: '2026-08-14.2' },
      { grade: 'A', score: 91, scannedAt: secondScanAt, checksVersion: '2026-08-14.2' },
    ],
  });
});

test('an export over the limit says that it is truncated, and has the hosts scanned most recently', async () => {
  await using service = await startApp();
  for (const host of ['a.example.com', 'b.example.com', 'c.example.com']) {
    await service.publish(host);
    service.advance(1_000);
  }
  const { facts, document } = await readExport(service, 2);
  expect(facts).toMatchObject({ count: 2, truncated: true });
  expect(document).toMatchObject({ count: 2, truncated: true });
  const hosts = document.projects.map(({ host }: { host: string }) => host);
  expect(hosts).toEqual(['c.example.com', 'b.example.com']);
  expect((await readExport(service, 3)).document.truncated).toBe(false);
});

test('the export omits opted-out hosts, and has zero projects if no other host is listed', async () => {
  await using service = await startApp();
  await service.publish('a.example.com');
  await service.store.listing.set('a.example.com', { listed: false });
  const { document } = await readExport(service);
  expect(document).toMatchObject({ count: 0, truncated: false, projects: [] });
});
