import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';

const HOSTS = ['scanner-1', 'scanner-2'] as const;
const OWN_SETTINGS = ['SETTLEMENT_KEY'];
const SCAN_SECONDS = 75;
const SILENCE_SECONDS = 20;

type Service = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[] | Readonly<Record<string, { ipv4_address: string }>>;
};

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

const { services } = parse(read('compose.yaml'), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
};
const nginx = read('deploy/nginx.conf');

/** As compose fills them in: `${NAME:-default}` only. */
function environmentOf(host: string, given: Readonly<Record<string, string>>) {
  const settings = Object.entries(services[host]?.environment ?? {});
  return Object.fromEntries(
    settings.map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+):-([^}]*)\}/g, (_, key: string, or: string) => given[key] ?? or),
    ]),
  );
}

/** The image sets these. */
const IMAGE = { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '4021' };

describe('compose.yaml', () => {
  test.each(HOSTS)('%s starts with mock payments only on request', (host) => {
    const settings = (given: Record<string, string>) => ({
      ...IMAGE,
      ...environmentOf(host, given),
    });
    expect(() => loadConfig(settings({}))).toThrow('ALLOW_MOCK_PAYMENTS=1');
    const config = loadConfig(settings({ ALLOW_MOCK_PAYMENTS: '1' }));
    expect(config.baseUrl).toBe('http://localhost:8080');
    expect(config.storeUrl).toMatch(/^mongodb:\/\/mongo:27017\/scanner/);
  });

  test('both instances have equal settings except the key that they settle with', () => {
    const [one, other] = HOSTS.map((host) => environmentOf(host, {}));
    const names = Object.keys(one ?? {});
    expect(Object.keys(other ?? {})).toEqual(names);
    const keys = { SETTLEMENT_KEY_1: 'a', SETTLEMENT_KEY_2: 'b' };
    const [first, second] = HOSTS.map((host) => environmentOf(host, keys));
    expect(names.filter((name) => first?.[name] !== second?.[name])).toEqual(OWN_SETTINGS);
  });

  test('the instances trust only the address of the balancer', () => {
    const networks = services['balancer']?.networks;
    const address = networks && 'inner' in networks ? networks['inner'].ipv4_address : 'none';
    const { trustProxy } = loadConfig({
      ...IMAGE,
      ...environmentOf('scanner-1', { ALLOW_MOCK_PAYMENTS: '1' }),
    });
    expect(trustProxy).toEqual([address]);
  });
});

describe('deploy/nginx.conf', () => {
  test('lists both instances, and waits longer than a scan that is taken over', () => {
    for (const host of HOSTS) expect(nginx).toContain(`server ${host}:${IMAGE.PORT} `);
    const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(nginx)?.[1]);
    expect(seconds).toBeGreaterThanOrEqual(Math.max(150, SCAN_SECONDS + SILENCE_SECONDS));
  });

  test('replaces the address of the caller that a request states', () => {
    expect(nginx).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
    expect(nginx).not.toContain('$proxy_add_x_forwarded_for');
  });

  test('every block is closed and every line of it ends', () => {
    const lines = nginx
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim())
      .filter((line) => line !== '');
    expect(lines.filter((line) => !/[;{}]$/.test(line))).toEqual([]);
    const count = (mark: string) => nginx.split(mark).length;
    expect(count('{')).toBe(count('}'));
  });
});
