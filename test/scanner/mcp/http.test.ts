/** An MCP client calls the tools over streamable HTTP. The payment gate of `POST /v1/scan` sells `scan_origin`, too. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { x402Client } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';
import { NEWER_VERSION, resultOf, startEngine } from '../scan/engine-under-test.ts';

const SHOP = 'https://shop.example.com';

let service: TestApp;
let client: Client;
let address: string;
beforeEach(async () => {
  // Official clients sign with the real time, so the service's test clock is set to it.
  service = await startApp();
  service.advance(Date.now() - service.now());
  address = await service.app.listen({ port: 0, host: '127.0.0.1' });
  client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', address));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
});
afterEach(async () => {
  await client.close();
  await service[Symbol.asyncDispose]();
});

async function call(name: string, input: Record<string, unknown>, payment?: object) {
  const meta = payment === undefined ? {} : { _meta: { 'x402/payment': payment } };
  const answer = await client.callTool({ name, arguments: input, ...meta });
  const [firstPart] = answer.content as readonly { readonly text: string }[];
  expect(JSON.parse(firstPart?.text ?? '')).toEqual(answer.structuredContent);
  return { isError: answer.isError ?? false, value: answer.structuredContent, meta: answer._meta };
}

async function sign(required: unknown): Promise<object> {
  const buyer = new x402Client();
  registerExactEvmScheme(buyer, { signer: privateKeyToAccount(generatePrivateKey()) });
  return buyer.createPaymentPayload(required as PaymentRequired);
}

describe('/mcp in revision 0.3.0', () => {
  test('lists seven tools, of which only scan_origin is paid', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('scan_origin');
    expect(tools).toHaveLength(7);
    const paidTools = tools.filter(({ _meta }) => _meta?.['agents-x402/paymentRequired'] === true);
    expect(paidTools).toMatchObject([
      { name: 'scan_origin', _meta: { 'agents-x402/priceUSD': 0.05 } },
    ]);
  });

  test('passes the checks of the scanner itself when it is scanned with --mcp', async () => {
    const engine = await startEngine();
    const outcome = await engine.scan(address, NEWER_VERSION, { mcp: { path: null } });
    const paidTools = outcome.observations.resources.probed.filter(
      (resource) => resource.tool !== undefined,
    );
    expect(paidTools).toMatchObject([
      { path: '/mcp#scan_origin', tool: { binding: 'tool-result' } },
    ]);
    for (const id of ['P2', 'P4', 'P5', 'P6', 'P7', 'P8', 'S5']) {
      expect(resultOf(outcome, id)).toMatchObject({ id, status: 'pass' });
    }
    await engine[Symbol.asyncDispose]();
  });

  test('sells one scan for one payment, and that payment gets the same report from /mcp and from /v1/scan', async () => {
    service.scanner.will('shop.example.com', { grade: 'B' });
    const unpaidAnswer = await call('scan_origin', { url: SHOP });
    expect(unpaidAnswer).toMatchObject({
      isError: true,
      value: { x402Version: 2, accepts: [{ scheme: 'exact', amount: '50000' }] },
    });
    const payment = await sign(unpaidAnswer.value);
    const paid = await call('scan_origin', { url: SHOP }, payment);
    expect(paid).toMatchObject({
      isError: false,
      value: { origin: SHOP, grade: 'B', charged: true },
      meta: { 'x402/payment-response': { success: true } },
    });

    const header = Buffer.from(JSON.stringify(payment)).toString('base64');
    const redelivered = await service.post(
      '/v1/scan',
      { url: SHOP },
      { 'payment-signature': header },
    );
    expect(redelivered.headers['x-redelivered']).toBe('1');
    const { notice, ...report } = paid.value as Record<string, unknown>;
    expect(notice).toEqual(expect.any(String));
    expect(redelivered.json()).toEqual(report);
    expect((await call('scan_origin', { url: SHOP }, payment)).value).toEqual(paid.value);
    const otherScan = await call('scan_origin', { url: 'https://other.example.com' }, payment);
    expect(otherScan).toMatchObject({
      isError: true,
      value: { error: 'payment_conflict', charged: true },
    });
    expect(service.scanner.scannedHosts).toHaveLength(1);
  });

  test('answers processing for a scan that lasts too long, charges nothing, and sends progress', async () => {
    await using slow = await startApp({ environment: { SCAN_TIMEOUT_MS: '1500' } });
    slow.advance(Date.now() - slow.now());
    const scanMayEnd = Promise.withResolvers<void>();
    slow.scanner.will('shop.example.com', { until: scanMayEnd.promise });
    const buyer = new Client({ name: 'test', version: '1' });
    const url = new URL('/mcp', await slow.app.listen({ port: 0, host: '127.0.0.1' }));
    const transport = new StreamableHTTPClientTransport(url);
    await buyer.connect(transport as Parameters<typeof buyer.connect>[0]);
    const scan = { name: 'scan_origin', arguments: { url: SHOP } };
    const unpaid = await buyer.callTool(scan);
    const payment = await sign(unpaid.structuredContent);
    const paidScan = { ...scan, _meta: { 'x402/payment': payment } };
    const progresses: number[] = [];
    const answer = await buyer.callTool(paidScan, undefined, {
      onprogress: ({ progress }) => progresses.push(progress),
    });
    expect(answer).toMatchObject({
      isError: true,
      structuredContent: { error: 'scan_processing', status: 'processing', charged: false },
    });
    expect(progresses.length).toBeGreaterThan(0);
    scanMayEnd.resolve();
    const paid = await buyer.callTool(paidScan);
    expect(paid).toMatchObject({ structuredContent: { origin: SHOP, charged: true } });
    expect(slow.scanner.scannedHosts).toEqual(['shop.example.com']);
    await buyer.close();
  });

  test('charges nothing for a call with a refused URL or an unreadable payment', async () => {
    const { value } = await call('scan_origin', { url: SHOP });
    const refusal = await call('scan_origin', { url: 'https://127.0.0.1' }, await sign(value));
    expect(refusal).toMatchObject({
      isError: true,
      value: { error: 'invalid_url', charged: false },
    });
    expect(await call('scan_origin', { url: SHOP }, { nonsense: true })).toMatchObject({
      isError: true,
      value: { x402Version: 2, error: expect.stringMatching(/^invalid_payment: /) },
    });
  });

  test('search_directory hides an origin whose owner opted out, and get_report still shows its report', async () => {
    expect(await call('get_report', { url: SHOP })).toMatchObject({
      isError: true,
      value: { error: 'no_fresh_report' },
    });
    await service.publish('shop.example.com', { grade: 'B' });
    expect(await call('get_report', { url: SHOP })).toMatchObject({ value: { grade: 'B' } });
    expect(await call('search_directory', { q: 'shop' })).toMatchObject({ value: { count: 1 } });
    expect(await call('explain_check', { id: 'S1' })).toMatchObject({ value: { id: 'S1' } });
    expect(await call('preflight', { url: SHOP })).toMatchObject({ value: { verdict: 'caution' } });
    await service.store.listing.set('shop.example.com', { listed: false });
    expect(await call('search_directory', { q: 'shop' })).toMatchObject({ value: { count: 0 } });
    expect(await call('get_report', { url: SHOP })).toMatchObject({ value: { grade: 'B' } });
  });
});

test('revision 0.1.0 has no /mcp', async () => {
  await using olderRevision = await startApp({ revision: '0.1.0' });
  expect((await olderRevision.post('/mcp', {})).statusCode).toBe(404);
});
