/** No log line holds a secret key, in whatever part of a message or error the key was. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
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

test('an error that quotes the URL of the node is logged with only its host and port', async () => {
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

test('a key is hidden in messages and in logged members', () => {
  const { log, text } = logOf();
  log.warn(`the key is ${KEY}`);
  log.warn({ deep: { address: `at /v2/${SECRET}` } }, 'a fact');
  log.warn({ err: 'no error at all' }, 'thrown');
  expect(text()).not.toContain(SECRET);
  expect(text()).not.toContain(KEY.slice(2));
  expect(text()).toContain('a fact');
});

test('a logged error keeps its type, message and stack', () => {
  const { log, text } = logOf();
  log.error({ err: new TypeError('x is not a function') }, 'failed');
  const line = JSON.parse(text());
  expect(line.err).toMatchObject({ type: 'TypeError', message: 'x is not a function' });
  expect(line.err.stack).toContain('logger.test.ts');
  expect(line.msg).toBe('failed');
});

test('a signature in an error is not logged', () => {
  const { log, text } = logOf();
  const signature = `0x${'ab'.repeat(65)}`;
  log.error({ err: new Error(`call with ${signature} failed`) }, 'failed');
  expect(text()).not.toContain(signature);
});

const LOGGER = new URL('../../src/service/logger.ts', import.meta.url).href;

/** Runs a process that logs 100 lines and then `ending`, and returns what it printed. */
async function runLogging(ending: string): Promise<string> {
  const code = `
    import { createLogger } from '${LOGGER}';
    const log = createLogger({ logLevel: 'info', payment: { rpcUrl: null, facilitatorUrl: null } });
    for (let n = 0; n < 100; n += 1) log.info({ n }, 'a line');
    ${ending}`;
  const args = ['--input-type=module', '--eval', code];
  const ended = promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  // Some endings fail, and the error then holds the output.
  const { stdout } = await ended.catch((error: { stdout: string }) => error);
  return stdout;
}

test.each([
  ['calls process.exit', 'process.exit(0);'],
  ['ends by itself', ''],
  ['ends with an uncaught error', "setImmediate(() => { throw new Error('uncaught'); });"],
  ['is killed after a fatal line', "log.fatal('over'); process.kill(process.pid, 'SIGKILL');"],
])('every log line is printed when the process %s', async (_how, ending) => {
  const lines = (await runLogging(ending)).split('\n').filter((line) => line.includes('"a line"'));
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 100 }, (_, n) => n));
});
