/** The service still reads from a database that it cannot write, because the disk is full or a lock is held. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toPaymentTerms } from '../../../../src/service/start/open-payments.ts';
import { openSqlite } from '../../../../src/service/store/sqlite/store.ts';
import { needs } from '../../../fixtures/needs.ts';
import { type Answer, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { newPayer } from '../../payment/payer.ts';

const folder = mkdtempSync(join(tmpdir(), 'x402-disk-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', folder]).status === 0;

afterAll(() => {
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

/** Starts verifications, at most a thousand, until the service refuses a start. */
async function startUntilRefused(service: TestApp): Promise<Answer> {
  for (let n = 0; n < 1_000; n += 1) {
    const answer = await service.post('/v1/verify/start', { url: `s${n}.example.com` });
    if (answer.statusCode !== 200) return answer;
  }
  throw new Error('all verifications were accepted');
}

function expectUnavailable(answer: Answer): void {
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ error: 'store_unavailable', charged: false });
  expect(answer.headers['retry-after']).toBe('10');
}

/** Expects the usual answers to calls that only read. */
async function expectReadsServed(service: TestApp): Promise<void> {
  expect((await service.get('/v1/checks')).statusCode).toBe(200);
  const status = await service.get('/v1/status?url=shop.example.com');
  expect(status.json()).toMatchObject({ known: true, grade: 'A' });
}

describe(
  'a full disk',
  needs(isMounted ? null : 'a disk to fill (mount -t tmpfs, as root)'),
  () => {
    test('refuses writes with a clear error, serves reads, and accepts writes again once space is free', async () => {
      const file = join(folder, 'scanner.db');
      await using service = await startApp({
        environment: { RATE_LIMIT: 'off' },
        openStore: async (clock) => openSqlite(file, { clock }),
      });
      await service.publish('shop.example.com');
      const { token } = (
        await service.post('/v1/verify/start', { url: 'shop.example.com' })
      ).json();
      const filler = join(folder, 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(8 << 20))).toThrow('ENOSPC');

      expectUnavailable(await startUntilRefused(service));
      await expectReadsServed(service);
      rmSync(filler);
      service.challenges.set('shop.example.com', token);
      const confirmAnswer = await service.post('/v1/verify/confirm', { url: 'shop.example.com' });
      expect(confirmAnswer.json()).toMatchObject({ verified: true });
      const nextStart = await service.post('/v1/verify/start', { url: 'other.example.com' });
      expect(nextStart.statusCode).toBe(200);
    });
  },
);

describe('a database that may not grow', () => {
  test('refuses writes with a clear error, and serves reads', async () => {
    await using service = await startApp({
      environment: { RATE_LIMIT: 'off' },
      openStore: async (clock) => openSqlite(':memory:', { clock, maxPages: 140 }),
    });
    await service.publish('shop.example.com');
    expectUnavailable(await startUntilRefused(service));
    await expectReadsServed(service);
  });
});

describe('a locked database', () => {
  let service: TestApp;
  let lockHolder: DatabaseSync;
  const lockFolder = mkdtempSync(join(tmpdir(), 'x402-lock-'));

  beforeAll(async () => {
    const file = join(lockFolder, 'scanner.db');
    service = await startApp({
      environment: { RATE_LIMIT: 'off' },
      openStore: async (clock) => openSqlite(file, { clock }),
    });
    await service.publish('shop.example.com');
    lockHolder = new DatabaseSync(file);
  });
  afterAll(async () => {
    lockHolder.close();
    await service[Symbol.asyncDispose]();
    rmSync(lockFolder, { recursive: true, force: true });
  });

  test('answers 503 to requests that write, and the usual answer once the lock is released', async () => {
    lockHolder.exec('BEGIN IMMEDIATE');
    try {
      expectUnavailable(await service.post('/v1/verify/start', { url: 'shop.example.com' }));
      await expectReadsServed(service);
    } finally {
      lockHolder.exec('ROLLBACK');
    }
    const answer = await service.post('/v1/verify/start', { url: 'shop.example.com' });
    expect(answer.statusCode).toBe(200);
  });

  test('charges no call that it cannot record, and the same payment buys the call later', async () => {
    const payer = newPayer(undefined, toPaymentTerms(service.config));
    const { header } = await payer.sign({ value: 50_000n, nowMs: service.now() });
    const buy = () =>
      service.post('/v1/scan', { url: 'shop.example.com' }, { 'payment-signature': header });
    service.scanner.will('shop.example.com', {});
    lockHolder.exec('BEGIN IMMEDIATE');
    try {
      expectUnavailable(await buy());
    } finally {
      lockHolder.exec('ROLLBACK');
    }
    const saleAnswer = await buy();
    expect(saleAnswer.statusCode).toBe(200);
    expect(saleAnswer.json()).toMatchObject({ charged: true });
  });
});
