/** No line of the log holds a key, whichever way it came into one. */
import { createPublicClient, http } from 'viem';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/service/logger.ts';

const SECRET = 'a1b2c3d4e5f6';
const KEY = `0x${'7'.repeat(64)}`;

function logOf(environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const config = loadConfig({
    PAYMENT_MODE: 'local',
    PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    RPC_URL: `http://user:${SECRET}pw@127.0.0.1:9/v2/${SECRET}?key=${SECRET}q`,
    SETTLEMENT_KEY: KEY,
    ...environment,
  });
  const log = createLogger(config, { write: (line) => lines.push(line) });
  return { log, text: () => lines.join('') };
}

test('an error that quotes the address of the node keeps the host alone', async () => {
  const { log, text } = logOf();
  const url = `http://127.0.0.1:9/v2/${SECRET}`;
  const client = createPublicClient({ transport: http(url, { retryCount: 0 }) });
  const err = await client.getChainId().catch((error: unknown) => error);
  expect(String(err)).toContain(SECRET);
  log.error({ err }, 'it failed');
  log.error({ err: new Error('outer', { cause: err }) }, 'it failed again');
  expect(text()).not.toContain(SECRET);
  expect(text()).toContain('http://127.0.0.1:9/(hidden)');
});

test('a key is hidden in messages and members as well', () => {
  const { log, text } = logOf();
  log.warn(`the key is ${KEY}`);
  log.warn({ deep: { address: `at /v2/${SECRET}` } }, 'a fact');
  log.warn({ err: 'no error at all' }, 'thrown');
  expect(text()).not.toContain(SECRET);
  expect(text()).not.toContain(KEY.slice(2));
  expect(text()).toContain('a fact');
});

test('an error keeps what tells what happened', () => {
  const { log, text } = logOf();
  log.error({ err: new TypeError('x is not a function') }, 'failed');
  const line = JSON.parse(text());
  expect(line.err).toMatchObject({ type: 'TypeError', message: 'x is not a function' });
  expect(line.err.stack).toContain('logger.test.ts');
  expect(line.msg).toBe('failed');
});

test('signatures are cut, in errors', () => {
  const { log, text } = logOf();
  const signature = `0x${'ab'.repeat(65)}`;
  log.error({ err: new Error(`call with ${signature} failed`) }, 'failed');
  expect(text()).not.toContain(signature);
});
