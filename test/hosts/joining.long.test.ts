import { createServer } from 'node:net';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { listenLocally } from '../fixtures/service/local-server.ts';
import { TERMS } from '../service/payment/payer.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type InstanceProcess, launchInstance, type Settings } from './instance-process.ts';

// A slow machine may take minutes to start processes and databases.
vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
const mongoUri = 'uri' in mongo ? mongo.uri : '';
const OTHER_PAY_TO = '0x3333333333333333333333333333333333333333';
const OTHER_CATALOG = '2026-07-25.1';
/** A failed start takes much less time. */
const MAX_START_MS = 30_000;

/** Starts an instance that must exit with code 1, and returns the only line that it prints. */
async function readRefusal(settings: Settings): Promise<string> {
  const instance = await launchInstance(settings);
  const code = await instance.exited;
  expect({ code, out: instance.out() }).toEqual({ code: 1, out: '' });
  const lines = instance.err().trim().split('\n');
  expect(lines).toHaveLength(1);
  return lines.join();
}

describe('an instance that joins a store', needs('uri' in mongo ? null : mongo.unavailable), () => {
  const cleanup = new AsyncDisposableStack();
  let fleet: Fleet;
  let runningInstance: InstanceProcess;

  beforeAll(async () => {
    fleet = cleanup.use(await startFleet({ mongoUri, sellers: 0 }));
    runningInstance = await fleet.start();
  });
  afterAll(async () => {
    await cleanup.disposeAsync();
    if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
  });

  test('does not start with other settings than a live instance, and names the difference', async () => {
    const [payToRefusal, catalogRefusal] = await Promise.all([
      readRefusal({ ...fleet.settings, PAY_TO: OTHER_PAY_TO }),
      readRefusal({ ...fleet.settings, CHECKS_VERSION: OTHER_CATALOG }),
    ]);
    expect(payToRefusal).toContain(`payTo "${TERMS.payTo}", this one "${OTHER_PAY_TO}"`);
    expect(catalogRefusal).toContain(`this one "${OTHER_CATALOG}"`);
    for (const line of [payToRefusal, catalogRefusal]) expect(line).toContain('STORE_URL');
    expect((await runningInstance.get('/health')).status).toBe(200);
  });

  test('does not start with the settlement key of a live instance', async () => {
    const key = generatePrivateKey();
    const settings = {
      PAYMENT_MODE: 'local',
      // The start does not call the node, so nothing needs to listen here.
      RPC_URL: `http://127.0.0.1:${await freePort()}`,
      SETTLEMENT_KEY: key,
    };
    const keyHolder = await fleet.start(settings);
    const line = await readRefusal({ ...fleet.settings, ...settings });
    expect(line).toContain(`already sends settlements from ${privateKeyToAddress(key)}`);
    expect(line).not.toContain(key);
    // An instance that stops in good order frees its key at once.
    await keyHolder.kill('SIGTERM');
    expect(await keyHolder.exited).toBe(0);
    const nextInstance = await fleet.start(settings);
    await nextInstance.kill('SIGTERM');
  });

  test('may have other settings once the last instance has stopped', async () => {
    await runningInstance.kill('SIGTERM');
    const nextInstance = await fleet.start({ PAY_TO: OTHER_PAY_TO });
    expect((await nextInstance.get('/health')).status).toBe(200);
  });
});

describe('a missing database at the start', () => {
  test('is reported within 30 s if nothing listens', async () => {
    const port = await freePort();
    const startedMs = performance.now();
    const line = await readRefusal({
      STORE_URL: `mongodb://user:secret@127.0.0.1:${port}/scanner`,
    });
    expect(performance.now() - startedMs).toBeLessThan(MAX_START_MS);
    expect(line).toContain(`127.0.0.1:${port}`);
    expect(line).not.toContain('secret');
  });

  test('is reported within 30 s if a listener stays silent', async () => {
    const silentListener = createServer((socket) => socket.on('error', () => undefined));
    const { host } = await listenLocally(silentListener);
    try {
      const startedMs = performance.now();
      const line = await readRefusal({ STORE_URL: `mongodb://${host}/scanner` });
      expect(performance.now() - startedMs).toBeLessThan(MAX_START_MS);
      expect(line).toContain(host);
    } finally {
      silentListener.close();
    }
  });
});
