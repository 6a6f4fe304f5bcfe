/** Which instances may live on one store together. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { TERMS } from '../payment/payer.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type HostProcess, launchHost, type Settings } from './host-process.ts';

// Processes start, and databases come back, as fast as the machine lets them.
vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
const mongoUri = 'uri' in mongo ? mongo.uri : '';
const OTHER_PAY_TO = '0x3333333333333333333333333333333333333333';
const OTHER_CATALOG = '2026-07-25.1';
/** Many times what it takes, and far less than drivers wait by themselves. */
const WITHIN_MS = 30_000;

/** The one line, and nothing else, that an operator gets. */
async function refusalOf(settings: Settings): Promise<string> {
  const host = await launchHost(settings);
  const code = await host.exited;
  expect({ code, out: host.out() }).toEqual({ code: 1, out: '' });
  const lines = host.err().trim().split('\n');
  expect(lines).toHaveLength(1);
  return lines.join();
}

describe('an instance that joins a store', needs('uri' in mongo ? null : mongo.unavailable), () => {
  const undo = new AsyncDisposableStack();
  let fleet: Fleet;
  let member: HostProcess;

  beforeAll(async () => {
    fleet = undo.use(await startFleet({ mongoUri, sellers: 0 }));
    member = await fleet.start();
  });
  afterAll(async () => {
    await undo.disposeAsync();
    if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
  });

  test('with other settings than a live one does not start, and names the difference', async () => {
    const [payTo, catalog] = await Promise.all([
      refusalOf({ ...fleet.settings, PAY_TO: OTHER_PAY_TO }),
      refusalOf({ ...fleet.settings, CHECKS_VERSION: OTHER_CATALOG }),
    ]);
    expect(payTo).toContain(`payTo "${TERMS.payTo}", this one "${OTHER_PAY_TO}"`);
    expect(catalog).toContain(`this one "${OTHER_CATALOG}"`);
    for (const line of [payTo, catalog]) expect(line).toContain('STORE_URL');
    expect((await member.get('/health')).status).toBe(200);
  });

  test('gets a signer only if no other instance has it', async () => {
    const key = generatePrivateKey();
    const settings = {
      PAYMENT_MODE: 'local',
      // Nobody is asked at the start whether it answers.
      RPC_URL: `http://127.0.0.1:${await freePort()}`,
      SETTLEMENT_KEY: key,
    };
    const holder = await fleet.start(settings);
    const line = await refusalOf({ ...fleet.settings, ...settings });
    expect(line).toContain(`already sends settlements from ${privateKeyToAddress(key)}`);
    expect(line).not.toContain(key);
    // Handed over in good order, it is free at once.
    await holder.kill('SIGTERM');
    expect(await holder.exited).toBe(0);
    const heir = await fleet.start(settings);
    await heir.kill('SIGTERM');
  });

  test('may have other settings once the last instance has left', async () => {
    await member.kill('SIGTERM');
    const changed = await fleet.start({ PAY_TO: OTHER_PAY_TO });
    expect((await changed.get('/health')).status).toBe(200);
  });
});

describe('a missing database at the start', () => {
  test('is reported within seconds, if nothing listens', async () => {
    const port = await freePort();
    const began = performance.now();
    const line = await refusalOf({ STORE_URL: `mongodb://user:secret@127.0.0.1:${port}/scanner` });
    expect(performance.now() - began).toBeLessThan(WITHIN_MS);
    expect(line).toContain(`127.0.0.1:${port}`);
    expect(line).not.toContain('secret');
  });

  test('is reported within seconds, if a listener stays silent', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    try {
      const began = performance.now();
      const line = await refusalOf({ STORE_URL: `mongodb://127.0.0.1:${address.port}/scanner` });
      expect(performance.now() - began).toBeLessThan(WITHIN_MS);
      expect(line).toContain(`127.0.0.1:${address.port}`);
    } finally {
      silent.close();
    }
  });
});
