import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createTestCa } from '../../../fixtures/tls/test-ca.ts';
import { startOrigin } from './harness.ts';

/** Node reads variables about TLS only at its start, so this script runs in another process. */
const SCRIPT = `
  const { createProbeClient } = await import(process.env.CLIENT);
  const { openProbeThread } = await import(process.env.THREAD);
  const { allowOrigin } = await import(process.env.ALLOWING);
  const { DEFAULT_POLICY, parseOrigin } = await import(process.env.ORIGIN);
  const policy = allowOrigin(process.env.TARGET, DEFAULT_POLICY);
  const origin = parseOrigin(process.env.TARGET, policy);
  const thread = openProbeThread();
  const create = process.env.ON_THREAD ? thread.createClient : createProbeClient;
  const client = create({ policy, userAgent: 'test/1' });
  const seen = await client.request({
    origin, method: 'GET', path: '/', capBytes: 1000, redirects: 'none',
  });
  client.close();
  await thread.close();
  process.stdout.write(seen.ok ? 'ok ' + seen.data.body : seen.reason);
`;
const MODULES = {
  THREAD: new URL('../../../../src/scanner/probe/client/probe-thread.ts', import.meta.url).href,
  CLIENT: new URL('../../../../src/scanner/probe/client/client.ts', import.meta.url).href,
  ALLOWING: new URL('../../../../src/scanner/guard/origin.ts', import.meta.url).href,
  ORIGIN: new URL('../../../../src/scanner/guard/origin.ts', import.meta.url).href,
};
const ca = await createTestCa();

const THREAD_SETTINGS: readonly Record<string, string>[] = [{}, { ON_THREAD: '1' }];

test.each(THREAD_SETTINGS)(
  'a root that is not trusted is refused (with %o)',
  async (threadSettings) => {
    expect(await askFromAnotherProcess(threadSettings)).toBe('tls-unknown-issuer');
  },
);

test.each(THREAD_SETTINGS)(
  'NODE_EXTRA_CA_CERTS adds a trusted root (with %o)',
  async (threadSettings) => {
    const folder = await mkdtemp(join(tmpdir(), 'probe-trust-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'root.pem');
    await writeFile(file, ca.pem);
    expect(await askFromAnotherProcess({ ...threadSettings, NODE_EXTRA_CA_CERTS: file })).toBe(
      'ok hello',
    );
  },
);

test.each(THREAD_SETTINGS)(
  'NODE_TLS_REJECT_UNAUTHORIZED=0 does not switch the check off (with %o)',
  async (threadSettings) => {
    const env = { ...threadSettings, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    expect(await askFromAnotherProcess(env)).toBe('tls-unknown-issuer');
  },
);

test('the client does not use proxies of the environment', async () => {
  const proxy = await startOrigin((_, response) => response.end('proxied'));
  const env = {
    HTTP_PROXY: proxy.origin.url,
    HTTPS_PROXY: proxy.origin.url,
    https_proxy: proxy.origin.url,
    NODE_USE_ENV_PROXY: '1',
    NO_PROXY: '',
    no_proxy: '',
  };
  expect(await askFromAnotherProcess(env)).toBe('tls-unknown-issuer');
  expect(proxy.connections()).toBe(0);
});

async function askFromAnotherProcess(env: Record<string, string>): Promise<string> {
  const tls = await ca.issue({ hosts: ['localhost'] });
  const target = await startOrigin((_, response) => response.end('hello'), { tls });
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--no-warnings', '--eval', SCRIPT],
    { env: { PATH: process.env['PATH'] ?? '', ...MODULES, TARGET: target.origin.url, ...env } },
  );
  return stdout;
}
