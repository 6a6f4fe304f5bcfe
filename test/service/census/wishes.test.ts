/** An owner who leaves, and a host that the operator excludes, are asked and published no more, whatever runs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { toWantedScope } from '../../../src/service/scans/await-scan.ts';
import { ScanCoordinator } from '../../../src/service/scans/scan-coordinator.ts';
import { failure } from '../../fixtures/observations/build-observations.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';
import {
  DAY_MS,
  NOON_HOST as HOST,
  HOUR_MS,
  SILENT,
  startCensus,
  unreachedSeller,
} from './census-rig.ts';

type Rig = ReturnType<typeof startCensus>;

/** Nothing that the census measured may be shown. */
async function expectNothingShown({ store }: Rig, day: number): Promise<void> {
  expect(await store.directory.get(HOST)).toBeNull();
  expect(await store.directory.findGrade(HOST)).toBeNull();
  expect(await store.results.findPublished(HOST)).toBeNull();
  expect(await store.history.list(HOST)).toEqual([]);
  expect((await store.changes.list({ sinceMs: 0, limit: 10 })).changes).toEqual([]);
  expect(await store.changes.findNewest(10)).toEqual([]);
  const page = { sort: 'recent', page: 0, pageSize: 10 } as const;
  expect(await store.directory.list(page)).toEqual({ count: 0, records: [] });
  expect(await store.directory.list({ ...page, payable: 'today' })).toMatchObject({ count: 0 });
  expect(Object.values(await store.directory.countByGrade())).toEqual([0, 0, 0, 0, 0]);
  const snapshot = await store.exports.takeSnapshot(10);
  expect(snapshot.count).toBe(0);
  expect(day).toBeGreaterThan(0);
}

const leave = ({ store }: Rig) => store.listing.set(HOST, { listed: false });

describe('an owner who leaves', () => {
  test('before the second request of a look gets no second request and no word', async () => {
    const rig = startCensus();
    await rig.list(HOST);
    let secondAdmission = 'not asked';
    rig.between = async (admit) => {
      await leave(rig);
      await admit().catch((error: Error) => {
        secondAdmission = error.name;
        throw error;
      });
    };
    await rig.passTo(HOST);
    expect(secondAdmission).toBe('HostLeft');
    expect(await rig.word(HOST)).toBeNull();
    expect(rig.troubles).toEqual([]);
  });

  test('at the end of a look gets no word', async () => {
    const rig = startCensus();
    await rig.list(HOST);
    rig.during = () => leave(rig).then(() => undefined);
    await rig.passTo(HOST);
    expect(await rig.word(HOST)).toBeNull();
  });

  test('before a weekly scan begins is not scanned', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    rig.during = () => leave(rig).then(() => undefined);
    await rig.passTo(HOST);
    expect(rig.scanner.scannedHosts).toEqual([]);
    await expectNothingShown(rig, rig.today());
  });

  test('during a weekly scan is asked no more within seconds, and nothing is published', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    // The scan never ends by itself.
    rig.scanner.will(HOST, { until: new Promise(() => undefined) });
    rig.clock.nowMs = Math.max(rig.clock.nowMs, (await rig.store.census.get(HOST))?.lookAtMs ?? 0);
    await rig.census.rounds.tick();
    await expect.poll(() => rig.scanner.scannedHosts).toEqual([HOST]);
    await leave(rig);
    await rig.census.rounds.idle();
    await expectNothingShown(rig, rig.today());
    expect(await rig.word(HOST)).toBeNull();
    expect(rig.troubles).toEqual([]);
  });

  test('while the word of a silent scan waits is not published three hours later', async () => {
    const rig = startCensus();
    const day = rig.today();
    await rig.list(HOST, { isScanDue: true });
    rig.scanner.will(HOST, { observations: unreachedSeller(failure('timeout')) });
    rig.answer = () => ({ signs: [SILENT] });
    await rig.passTo(HOST);
    await leave(rig);
    await rig.passUntil(rig.clock.nowMs + 4 * HOUR_MS);
    expect(await rig.word(HOST, day)).toBeNull();
    await expectNothingShown(rig, day);
  });

  test('after a published scan takes it out of every answer, until the wish is withdrawn', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    await rig.passTo(HOST);
    expect(await rig.store.directory.findGrade(HOST)).toMatchObject({ grade: 'A' });
    await leave(rig);
    await expectNothingShown(rig, rig.today());
    await rig.store.listing.set(HOST, { listed: true });
    expect(await rig.store.directory.findGrade(HOST)).toMatchObject({ grade: 'A' });
  });

  test('keeps what a payer ordered in the look-ups of one origin', async () => {
    const rig = startCensus();
    await rig.list(HOST, { isScanDue: true });
    rig.scanner.will(HOST, { grade: 'B' });
    await rig.scan(HOST, true);
    rig.clock.nowMs += DAY_MS;
    rig.scanner.will(HOST, { grade: 'F' });
    await rig.passTo(HOST, rig.today());
    expect(await rig.store.directory.findGrade(HOST)).toMatchObject({ grade: 'F' });
    await leave(rig);
    expect(await rig.store.directory.get(HOST)).toMatchObject({ grade: 'B', availability: null });
    expect((await rig.store.history.list(HOST)).map(({ grade }) => grade)).toEqual(['B']);
  });
});

describe('CENSUS_EXCLUDE', () => {
  async function startExcluding() {
    const folder = await mkdtemp(join(tmpdir(), 'census-exclude-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'exclude.txt');
    await writeFile(path, '# by mail\n');
    const rig = startCensus(undefined, undefined, path);
    return { rig, exclude: (line: string) => writeFile(path, line) };
  }

  test('is read before each request: a look is dropped that runs when the line is written', async () => {
    const { rig, exclude } = await startExcluding();
    await rig.list(HOST);
    rig.during = () => exclude(HOST);
    await rig.passTo(HOST);
    expect(rig.asked).toHaveLength(1);
    expect(await rig.word(HOST)).toBeNull();
    await rig.passTo(HOST, rig.today() + 1);
    expect(rig.asked).toHaveLength(1);
  });

  test('hides what only the census measured at the next second, and its rows go after 30 days', async () => {
    const { rig, exclude } = await startExcluding();
    await rig.list(HOST, { isScanDue: true });
    await rig.passTo(HOST);
    const before = await rig.store.directory.readVersions();
    await exclude(`https://${HOST}/`);
    await rig.settle();
    await expectNothingShown(rig, rig.today());
    expect(await rig.store.directory.readVersions()).not.toEqual(before);
    await rig.store.purge(rig.store.now());
    expect(await rig.store.census.get(HOST)).not.toBeNull();
    rig.clock.nowMs += 31 * DAY_MS;
    await rig.store.purge(rig.store.now());
    expect(await rig.store.census.get(HOST)).toBeNull();
    await expectNothingShown(rig, rig.today());
  });

  test('leaves in every list what a payer ordered', async () => {
    const { rig, exclude } = await startExcluding();
    await rig.list(HOST, { isScanDue: true });
    rig.scanner.will(HOST, { grade: 'B' });
    await rig.scan(HOST, true);
    rig.clock.nowMs += DAY_MS;
    rig.scanner.will(HOST, { grade: 'F' });
    await rig.passTo(HOST, rig.today());
    await exclude(HOST);
    await rig.settle();
    const { records } = await rig.store.directory.list({ sort: 'recent', page: 0, pageSize: 10 });
    expect(records).toMatchObject([{ host: HOST, grade: 'B', availability: null }]);
    const { changes } = await rig.store.changes.list({ sinceMs: 0, limit: 10 });
    expect(changes.map(({ grade }) => grade)).toEqual(['B']);
  });
});

test('a payer ends the scan of the census at the same host', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  rig.scanner.will(HOST, { until: new Promise(() => undefined) });
  rig.clock.nowMs = Math.max(rig.clock.nowMs, (await rig.store.census.get(HOST))?.lookAtMs ?? 0);
  await rig.census.rounds.tick();
  await expect.poll(() => rig.scanner.scannedHosts).toEqual([HOST]);
  rig.scanner.will(HOST, { grade: 'C' });
  await rig.scan(HOST, true);
  await rig.census.rounds.idle();
  expect(await rig.store.directory.findGrade(HOST)).toMatchObject({ grade: 'C' });
  expect(rig.troubles).toEqual([]);
});

test('a payer of another instance ends the scan of the census at the same host', async () => {
  const rig = startCensus();
  await rig.list(HOST, { isScanDue: true });
  rig.scanner.will(HOST, { until: new Promise(() => undefined) });
  rig.clock.nowMs = Math.max(rig.clock.nowMs, (await rig.store.census.get(HOST))?.lookAtMs ?? 0);
  await rig.census.rounds.tick();
  await expect.poll(() => rig.scanner.scannedHosts).toEqual([HOST]);
  const scanner = createFakeScanner();
  scanner.will(HOST, { grade: 'C' });
  const other = new ScanCoordinator({ scanner, store: rig.store, catalogFacts: {} });
  // The scan of the census never ends by itself.
  const finished = await other.run(parseOrigin(HOST));
  await other.publish(finished.scanId);
  await rig.census.rounds.idle();
  expect(finished.report).toMatchObject({ grade: 'C' });
  expect(await rig.store.directory.findGrade(HOST)).toMatchObject({ grade: 'C' });
  expect(await rig.store.leases.findLive(toWantedScope(HOST))).toEqual([]);
  expect(rig.troubles).toEqual([]);
});
