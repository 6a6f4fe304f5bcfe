/** The MCP client of Python's official package buys a scan at /mcp. */
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, describe, expect, test } from 'vitest';
import { ensurePythonEnv } from '../../fixtures/clients/python/python-env.ts';
import { startPythonMcpBuyer } from '../../fixtures/clients/python/python-mcp-buyer.ts';
import { needs } from '../../fixtures/needs.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

const environment = await ensurePythonEnv();
const { python, unavailable = null } = { python: '', unavailable: null, ...environment };

describe("Python's x402.mcp client", needs(unavailable), () => {
  const buyer = unavailable === null ? startPythonMcpBuyer(python) : null;
  afterAll(() => buyer?.[Symbol.asyncDispose]());

  test('pays for scan_origin and gets the report', async () => {
    await using service = await startApp();
    service.advance(Date.now() - service.now());
    service.scanner.will('shop.example.com', { grade: 'B' });
    const url = `${await service.app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
    const purchase = await buyer?.buy({
      url,
      tool: 'scan_origin',
      arguments: { url: 'https://shop.example.com' },
      privateKey: generatePrivateKey(),
    });
    expect(purchase).toMatchObject({
      isError: false,
      paymentMade: true,
      payment: { success: true },
    });
    expect(JSON.parse(purchase?.text ?? '')).toMatchObject({ grade: 'B', charged: true });
  });

  test('pays nothing for free or refused calls', async () => {
    await using service = await startApp();
    service.advance(Date.now() - service.now());
    const url = `${await service.app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
    const privateKey = generatePrivateKey();
    const call = (tool: string, input: object) =>
      buyer?.buy({ url, tool, arguments: input, privateKey });
    expect(await call('explain_check', { id: 'P6' })).toMatchObject({ paymentMade: false });
    const refusal = await call('scan_origin', { url: 'https://127.0.0.1' });
    expect(refusal).toMatchObject({ isError: true, payment: null });
    expect(JSON.parse(refusal?.text ?? '')).toMatchObject({ error: 'invalid_url', charged: false });
  });
});
