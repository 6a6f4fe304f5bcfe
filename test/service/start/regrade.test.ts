/** A payer rescans a seller, with mock payments. The directory then shows the new grade. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/service/config/config.ts';
import { openService, type Service } from '../../../src/service/start/service.ts';
import { challengeAnswer, challengeOf } from '../../fixtures/origins/crafted-challenge.ts';
import { type CraftedOptions, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { buyer, PRICES } from '../http/routes/paid/selling.ts';

const HOSTILE_VALUE: unknown = JSON.parse('{"toString":1,"valueOf":1,"__proto__":{"toString":1}}');

async function startService(sellerHost: string): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'regrade-'));
  const service = await openService(
    loadConfig({
      LOG_LEVEL: 'silent',
      STORE_URL: `sqlite:${join(folder, 'scanner.db')}`,
      SCAN_ALLOW_HOSTS: sellerHost,
      X402SCAN_URL: '',
      BAZAAR_URL: '',
      ECOSYSTEM_URL: '',
    }),
  );
  onTestFinished(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  return service;
}

test('a seller with an A that then sends hostile JSON gets a new grade, and the directory shows it', async () => {
  let answers: NonNullable<CraftedOptions['answers']> = {};
  await using seller = await startCraftedSeller({
    answers: {
      '*': (request, usualAnswer) => {
        const answer = answers[new URL(request.path, request.origin).pathname];
        return typeof answer === 'function' ? answer(request, usualAnswer) : (answer ?? null);
      },
    },
  });
  const { host } = new URL(seller.url);
  const { app } = await startService(host);
  const payer = buyer();

  const scan = async () => {
    const { header } = await payer.sign({ value: PRICES['0.3.0'].scan, nowMs: Date.now() });
    const headers = { 'payment-signature': header };
    return await app.inject({
      method: 'POST',
      url: '/v1/scan',
      payload: { url: seller.url },
      headers,
    });
  };
  const readListing = async () =>
    (await app.inject({ url: `/v1/project?host=${encodeURIComponent(host)}` })).json();

  const firstScan = await scan();
  expect(firstScan.statusCode).toBe(200);
  expect(firstScan.json()).toMatchObject({ grade: 'A', charged: true });
  expect(await readListing()).toMatchObject({ grade: 'A' });

  answers = {
    [WEATHER.path]: (request) => {
      const challenge = challengeOf(WEATHER, request.origin);
      const accepts = [
        {
          ...challenge.accepts[0],
          payTo: HOSTILE_VALUE,
          network: HOSTILE_VALUE,
          amount: HOSTILE_VALUE,
        },
      ];
      return challengeAnswer({ ...challenge, accepts });
    },
    '/.well-known/x402': {
      status: 200,
      body: { resources: [HOSTILE_VALUE, { url: HOSTILE_VALUE, price: HOSTILE_VALUE }] },
    },
    '/.well-known/agent-card.json': {
      status: 200,
      body: { name: HOSTILE_VALUE, url: HOSTILE_VALUE, skills: [HOSTILE_VALUE] },
    },
  };
  const secondScan = await scan();
  expect(secondScan.statusCode).toBe(200);
  const report = secondScan.json();
  expect(report).toMatchObject({ charged: true, cache: 'miss' });
  expect(report.results).toHaveLength(25);
  expect(report.score).toBeLessThan(firstScan.json().score);
  expect(await readListing()).toMatchObject({ grade: report.grade, score: report.score });
});
