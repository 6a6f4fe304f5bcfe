/** Secrets in messages and errors never reach the log, and no log line is lost when the process ends. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createPublicClient, http } from 'viem';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/service/config/config.ts';
import { createLogger } from '../../../src/service/start/logger.ts';

const RPC_SECRET = 'a1b2c3d4e5f6';
const SETTLEMENT_KEY = `0x${'7'.repeat(64)}`;

function openTestLog(environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const config = loadConfig({
    PAYMENT_MODE: 'local',
    PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    RPC_URL: `http://user:${RPC_SECRET}pw@127.0.0.1:9/v2/${RPC_SECRET}?key=${RPC_SECRET}q`,
    SETTLEMENT_KEY,
    ...environment,
  });
  const log = createLogger(config, { write: (line) => lines.push(line) });
  return { log, readText: () => lines.join('') };
}

test('a logged error that quotes the URL of the node keeps only the host and port of that URL', async () => {
  const { log, readText } = openTestLog();
  const url = `http://127.0.0.1:9/v2/${RPC_SECRET}`;
  const client = createPublicClient({ transport: http(url, { retryCount: 0 }) });
  const err = await client.getChainId().catch((error: unknown) => error);
  expect(String(err)).toContain(RPC_SECRET);
  log.error({ err }, 'it failed');
  log.error({ err: new Error('outer', { cause: err }) }, 'it failed again');
  expect(readText()).not.toContain(RPC_SECRET);
  expect(readText()).toContain('http://127.0.0.1:9/(hidden)');
});

test('keys and secrets are hidden in messages and in logged members', () => {
  const { log, readText } = openTestLog();
  log.warn(`the key is ${SETTLEMENT_KEY}`);
  log.warn({ deep: { address: `at /v2/${RPC_SECRET}` } }, 'a fact');
  log.warn({ err: 'no error at all' }, 'thrown');
  expect(readText()).not.toContain(RPC_SECRET);
  expect(readText()).not.toContain(SETTLEMENT_KEY.slice(2));
  expect(readText()).toContain('a fact');
});

test('a logged error keeps its type, message and stack', () => {
  const { log, readText } = openTestLog();
  log.error({ err: new TypeError('x is not a function') }, 'failed');
  const line = JSON.parse(readText());
  expect(line.err).toMatchObject({ type: 'TypeError', message: 'x is not a function' });
  expect(line.err.stack).toContain('logger.test.ts');
  expect(line.msg).toBe('failed');
});

test('a signature in an error is not logged', () => {
  const { log, readText } = openTestLog();
  const signature = `0x${'ab'.repeat(65)}`;
  log.error({ err: new Error(`call with ${signature} failed`) }, 'failed');
  expect(readText()).not.toContain(signature);
});

const LOGGER_URL = new URL('../../../src/service/start/logger.ts', import.meta.url).href;

/** Runs a process that logs 100 lines and then runs the code `ending`. Returns the output of the process. */
async function runLogging(ending: string): Promise<string> {
  const code = `
    import { createLogger } from '${LOGGER_URL}';
    const log = createLogger({ logLevel: 'info', payment: { rpcUrl: null, facilitatorUrl: null } });
    for (let n = 0; n < 100; n += 1) log.info({ n }, 'a line');
    ${ending}`;
  const args = ['--input-type=module', '--eval', code];
  const running = promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  // If the process fails, the error holds its output.
  const { stdout } = await running.catch((error: { stdout: string }) => error);
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
