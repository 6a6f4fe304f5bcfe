/** A paid scan through the started service, whose name servers are lost. Real questions go to a server on this machine. */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type NameAnswer,
  type NameServer,
  type Query,
  startNameServer,
} from '../../fixtures/dns/name-server.ts';
import { freePort } from '../../fixtures/service/free-port.ts';
import { folderPerFile } from '../../fixtures/temp-folder.ts';
import { buyer, PRICES } from '../http/routes/paid/selling.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PRELOAD = new URL('../../fixtures/dns/use-name-server.mjs', import.meta.url).href;
const TIMEOUT_MS = 120_000;

const folder = folderPerFile();
let nameServer: NameServer;
let service: ChildProcess;
let base: string;
let script: (query: Query) => NameAnswer;

beforeAll(async () => {
  nameServer = await startNameServer((query) => script(query));
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  service = spawn(process.execPath, ['--import', PRELOAD, join(ROOT, 'src/main.ts')], {
    cwd: folder.path,
    env: {
      ...{ PATH: process.env['PATH'], PORT: String(port), NAME_SERVER: nameServer.address },
      ...{ X402SCAN_URL: '', BAZAAR_URL: '', ECOSYSTEM_URL: '', LOG_LEVEL: 'silent' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const listening = Promise.withResolvers<void>();
  let out = '';
  service.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (out.includes('Listening on')) listening.resolve();
  });
  service.once('exit', () => listening.reject(new Error(`the service ended: ${out}`)));
  await listening.promise;
});

afterAll(async () => {
  service.kill('SIGKILL');
  await nameServer[Symbol.asyncDispose]();
});

async function orderScan(host: string, payment: string) {
  const response = await fetch(`${base}/v1/scan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'payment-signature': payment },
    body: JSON.stringify({ url: host }),
  });
  const { status, headers } = response;
  return { status, receipt: headers.get('payment-response'), body: await response.json() };
}

async function signPayment() {
  return (await buyer().sign({ value: PRICES['0.3.0'].scan })).header;
}

test.each<readonly [string, string, (query: Query) => NameAnswer]>([
  ['from the start', 'lost-first.example.com', () => 'silent'],
  [
    // The scan asks again after the host was admitted.
    'once the scan runs',
    'lost-later.example.com',
    ({ type, number }) => {
      if (number > 1) return 'silent';
      return type === 'A' ? ['93.184.215.14'] : [];
    },
  ],
])(
  'a paid scan is answered 503, uncharged, if every name server is silent %s',
  async (_, host, lost) => {
    script = lost;
    const payment = await signPayment();
    const failed = await orderScan(host, payment);
    expect(failed).toMatchObject({
      status: 503,
      receipt: null,
      body: { error: 'scanner_failed', charged: false },
    });
    const hostQueries = nameServer.queries.filter(({ name }) => name === host || name === 'com');
    expect(hostQueries.map(({ type }) => type)).toEqual(expect.arrayContaining(['AAAA', 'NS']));
    const lostQuestions = hostQueries.filter(({ type }) => type === 'A');
    expect(
      lostQuestions.map((query) => lost(query)).filter((answer) => answer === 'silent'),
    ).toHaveLength(3);
    const status = await fetch(`${base}/v1/status?url=${host}`);
    expect(await status.json()).toMatchObject({ known: false });

    // The same payment buys the scan once the name servers answer.
    script = () => 'NXDOMAIN';
    const scanned = await orderScan(host, payment);
    expect(scanned).toMatchObject({
      status: 200,
      receipt: expect.any(String),
      body: { grade: 'F', charged: true },
    });
  },
  TIMEOUT_MS,
);
