import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/service/config/config.ts';
import { needs } from '../fixtures/needs.ts';

const NGINX = '/usr/sbin/nginx';
const missingNginx = existsSync(NGINX) ? null : 'nginx is not installed';

const INSTANCES = ['scanner-1', 'scanner-2'] as const;
const SETTINGS_PER_INSTANCE = ['SETTLEMENT_KEY'];
const MAX_SCAN_SECONDS = 75;
const MAX_SILENCE_SECONDS = 20;

type Service = {
  readonly build?: string;
  readonly image?: string;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[] | Readonly<Record<string, { ipv4_address: string }>>;
};

function readProjectFile(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

const compose = readProjectFile('compose.yaml');
const { services } = parse(compose, { merge: true }) as {
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

  test('one service builds the image that both instances use', () => {
    expect(INSTANCES.map((instance) => services[instance]?.build)).toEqual(['.', undefined]);
    expect(new Set(INSTANCES.map((instance) => services[instance]?.image)).size).toBe(1);
  });

  test('its production line starts, as it is and with the exception', () => {
    const line = /^# {3}(PAYMENT_MODE=facilitator .*) docker compose up/m.exec(compose)?.[1] ?? '';
    const values = { PAY_TO: '0x000000000000000000000000000000000000dEaD' };
    const variables = Object.fromEntries(
      line.split(' ').map((pair) => {
        const [name = '', value = ''] = pair.split('=');
        const url = value === '…' || value === 'https://…' ? 'https://node.shop.com' : value;
        return [name, name === 'PAY_TO' ? values.PAY_TO : url];
      }),
    );
    const load = (settings: Record<string, string>) =>
      loadConfig({ ...IMAGE_SETTINGS, ...readEnvironment('scanner-1', settings) });
    expect(load(variables).payment.mode).toBe('facilitator');
    const { RPC_URL, ...withoutNode } = variables;
    expect(() => load(withoutNode)).toThrow('RPC_URL is not set');
    expect(load({ ...withoutNode, ALLOW_UNPROVED_SETTLEMENTS: '1' }).payment.rpcUrl).toBeNull();
  });

  test('every documented setting reaches the instances, by the file .env or by name', () => {
    const documented = [...readProjectFile('docs/settings.md').matchAll(/^\| (`[^|]*) \|/gm)]
      .flatMap(([, names = '']) => names.match(/[A-Z][A-Z0-9_]+/g) ?? [])
      // The image sets these, and the command line alone reads the last.
      .filter((name) => !['HOST', 'PORT', 'STANDING_CACHE'].includes(name));
    expect(documented.length).toBeGreaterThan(30);
    for (const instance of INSTANCES) {
      expect(services[instance]?.env_file).toEqual([{ path: '.env', required: false }]);
      const named = Object.keys(services[instance]?.environment ?? {});
      // A name with an empty value would hide the value of the file, so compose fills each name from .env too.
      for (const name of named.filter((one) => documented.includes(one))) {
        const value = services[instance]?.environment?.[name] ?? '';
        expect(value).toMatch(/\$\{|mongodb:|^172\./);
      }
    }
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
      expect(nginx).toContain(`server ${instance}:${IMAGE_SETTINGS.PORT} resolve `);
    const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(nginx)?.[1]);
    expect(seconds).toBeGreaterThanOrEqual(Math.max(150, MAX_SCAN_SECONDS + MAX_SILENCE_SECONDS));
  });

  test('looks the names of the instances up again', () => {
    expect(nginx).toMatch(/^ {4}resolver 127\.0\.0\.11 valid=\d+s/m);
    expect(nginx).toMatch(/^ {8}zone scanner /m);
  });

  /** The image of compose.yaml has nginx 1.29. Older ones do not know `resolve`, and here no instance has a name. */
  test(
    'is accepted by nginx, apart from what older versions do not know',
    needs(missingNginx),
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
      try {
        const file = join(folder, 'nginx.conf');
        writeFileSync(file, nginx.replaceAll(/scanner-\d:4021 resolve/g, '127.0.0.1:4021'));
        const { status, stderr } = spawnSync(NGINX, ['-t', '-c', file, '-g', `pid ${folder}/pid;`]);
        expect([status, status === 0 ? '' : String(stderr)]).toEqual([0, '']);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

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
