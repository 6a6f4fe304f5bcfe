import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';

const INSTANCES = ['scanner-1', 'scanner-2'] as const;
const SETTINGS_PER_INSTANCE = ['SETTLEMENT_KEY'];
const MAX_SCAN_SECONDS = 75;
const MAX_SILENCE_SECONDS = 20;

type Service = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[] | Readonly<Record<string, { ipv4_address: string }>>;
};

function readProjectFile(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

const { services } = parse(readProjectFile('compose.yaml'), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
};
const nginx = readProjectFile('deploy/nginx.conf');

/** Fills in `${NAME:-default}` in the settings of an instance, as compose does. */
function readEnvironment(instance: string, variables: Readonly<Record<string, string>>) {
  const settings = Object.entries(services[instance]?.environment ?? {});
  return Object.fromEntries(
    settings.map(([name, value]) => [
      name,
      value.replace(
        /\$\{(\w+):-([^}]*)\}/g,
        (_, key: string, fallback: string) => variables[key] ?? fallback,
      ),
    ]),
  );
}

/** Settings that the Docker image sets. */
const IMAGE_SETTINGS = { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '4021' };

describe('compose.yaml', () => {
  test.each(INSTANCES)('%s takes mock payments only with ALLOW_MOCK_PAYMENTS=1', (instance) => {
    const settings = (variables: Record<string, string>) => ({
      ...IMAGE_SETTINGS,
      ...readEnvironment(instance, variables),
    });
    expect(() => loadConfig(settings({}))).toThrow('ALLOW_MOCK_PAYMENTS=1');
    const config = loadConfig(settings({ ALLOW_MOCK_PAYMENTS: '1' }));
    expect(config.baseUrl).toBe('http://localhost:8080');
    expect(config.storeUrl).toMatch(/^mongodb:\/\/mongo:27017\/scanner/);
  });

  test('both instances have equal settings except for their settlement keys', () => {
    const [settings1, settings2] = INSTANCES.map((instance) => readEnvironment(instance, {}));
    const names = Object.keys(settings1 ?? {});
    expect(Object.keys(settings2 ?? {})).toEqual(names);
    const keys = { SETTLEMENT_KEY_1: 'a', SETTLEMENT_KEY_2: 'b' };
    const [withKey1, withKey2] = INSTANCES.map((instance) => readEnvironment(instance, keys));
    expect(names.filter((name) => withKey1?.[name] !== withKey2?.[name])).toEqual(
      SETTINGS_PER_INSTANCE,
    );
  });

  test('the instances trust only the address of the balancer', () => {
    const networks = services['balancer']?.networks;
    const address = networks && 'inner' in networks ? networks['inner'].ipv4_address : 'none';
    const { trustProxy } = loadConfig({
      ...IMAGE_SETTINGS,
      ...readEnvironment('scanner-1', { ALLOW_MOCK_PAYMENTS: '1' }),
    });
    expect(trustProxy).toEqual([address]);
  });
});

describe('deploy/nginx.conf', () => {
  test('lists both instances, and waits long enough for a scan that another instance takes over', () => {
    for (const instance of INSTANCES)
      expect(nginx).toContain(`server ${instance}:${IMAGE_SETTINGS.PORT} `);
    const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(nginx)?.[1]);
    expect(seconds).toBeGreaterThanOrEqual(Math.max(150, MAX_SCAN_SECONDS + MAX_SILENCE_SECONDS));
  });

  test('replaces an X-Forwarded-For header that the caller sends', () => {
    expect(nginx).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
    expect(nginx).not.toContain('$proxy_add_x_forwarded_for');
  });

  test('closes every block, and ends every line with a semicolon or a brace', () => {
    const lines = nginx
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim())
      .filter((line) => line !== '');
    expect(lines.filter((line) => !/[;{}]$/.test(line))).toEqual([]);
    const count = (character: string) => nginx.split(character).length;
    expect(count('{')).toBe(count('}'));
  });
});
