/** The service sells and signs the report of a real scan, and `verify` proves it. */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { scanCommand } from '../../src/cli/scan-command.ts';
import { verifyCommand } from '../../src/cli/verify-command.ts';
import { signEnvelope, toCanonicalJson } from '../../src/scanner/attestation/envelope.ts';
import type { JsonObject, JsonValue } from '../../src/scanner/model/json.ts';
import { makeSigningKey } from '../../src/service/keys/open-signing-key.ts';
import { type CraftedSeller, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';
import { type InstanceProcess, startInstance } from '../hosts/instance-process.ts';
import { newPurchase } from '../hosts/purchase.ts';
import { runCommand } from './run-cli.ts';

const folder = folderPerFile();
let seller: CraftedSeller;
let instance: InstanceProcess;
const files = { envelope: '', recording: '', keys: '' };
let envelope: {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
};
let keys: { keys: { x: string; kid: string; nbf: number; exp: number }[] };
let recording: string;

beforeAll(async () => {
  seller = await startCraftedSeller({ answers: { '/llms.txt': { status: 404 } } });
  const url = new URL(seller.url).host;
  instance = await startInstance({
    STORE_URL: 'sqlite::memory:',
    SCAN_ALLOW_HOSTS: url,
    SIGNING_KEY,
    LOG_LEVEL: 'trace',
  });
  const { headers } = await newPurchase('scan');
  const purchase = await instance.post(
    '/v1/scan',
    { url: seller.url, include: ['recording'] },
    headers,
  );
  expect([purchase.status, purchase.json['error']]).toEqual([200, undefined]);
  recording = JSON.stringify(purchase.json['recording']);
  const attestationPath = `/v1/attestation?url=${encodeURIComponent(seller.url)}`;
  await vi.waitFor(
    async () => expect((await instance.get(attestationPath)).status).toBe(200),
    WAIT_OPTIONS,
  );
  envelope = JSON.parse((await instance.get(attestationPath)).body);
  keys = JSON.parse((await instance.get('/.well-known/jwks.json')).body);
  files.envelope = await folder.write('envelope.json', envelope);
  files.recording = await folder.write('recording.json', recording);
  files.keys = await folder.write('keys.json', keys);
});
afterAll(async () => {
  await instance?.kill('SIGTERM');
  await seller?.[Symbol.asyncDispose]();
});

async function verify(...args: readonly string[]) {
  const { code, stdout: text } = await runCommand(verifyCommand, ...args);
  const proofs = [...text.matchAll(/^(proved|NOT proved|not asked) +(\w+): (.*)$/gm)];
  return {
    code,
    text,
    proofs: proofs.map(([, how, what]) => `${how} ${what}`),
    says: Object.fromEntries(proofs.map(([, , what, says]) => [what, says])),
  };
}

/** The key of a stranger, in a key set that is valid at every time of a scan. */
const STRANGER = makeSigningKey();
const STRANGER_KEYS = {
  keys: [
    { kty: 'OKP', crv: 'Ed25519', x: STRANGER.publicKey, kid: STRANGER.kid, nbf: 0, exp: 1e11 },
  ],
};

/** The stranger signs a statement. Returns the files of the envelope and of their key set. */
async function sign(statement: JsonValue): Promise<readonly [envelope: string, keySet: string]> {
  const signed = signEnvelope(toCanonicalJson(statement), STRANGER);
  const keySet = await folder.write('stranger.json', STRANGER_KEYS);
  return [await folder.write('signed.json', signed), keySet];
}

const SIGNING_KEY = makeSigningKey().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const WAIT_OPTIONS = { timeout: 30_000 };
const ALL_PROVED = ['proved signature', 'proved time', 'proved recording'];
const decodeStatement = () => JSON.parse(Buffer.from(envelope.payload, 'base64').toString());

describe('verify', () => {
  test('proves the report of a sold scan with key set and recording', async () => {
    const { keys: keysFile, recording: recordingFile } = files;
    const byFile = await verify(files.envelope, '--keys', keysFile, '--recording', recordingFile);
    expect([byFile.code, byFile.proofs]).toEqual([0, ALL_PROVED]);
    expect(byFile.text).toContain(seller.url);
    expect(byFile.text).toContain(keys.keys[0]?.kid);
    const byUrl = await verify(files.envelope, '--keys', `${instance.url}/.well-known/jwks.json`);
    expect([byUrl.code, byUrl.proofs]).toEqual([
      0,
      [...ALL_PROVED.slice(0, 2), 'not asked recording'],
    ]);
  });

  test('accepts a bought recording that scan --from judges to the same results', async () => {
    const { report } = decodeStatement().predicate;
    const flags = ['--checks-version', report.checksVersion, '--format', 'json'];
    const { stdout } = await runCommand(scanCommand, '--from', files.recording, ...flags);
    const { results, grade, score, scannedAt } = JSON.parse(stdout);
    expect({ results, grade, score, scannedAt }).toEqual({
      ...pick(report, ['results', 'grade', 'score', 'scannedAt']),
    });
  });

  test('does not request a private address that only the report names', async () => {
    await expect(verify(files.envelope)).rejects.toThrow(
      /names, is not requested: .*--keys URL\|FILE/,
    );
  });

  test('fails on one changed byte of the report, anywhere', async () => {
    const payload = Buffer.from(envelope.payload, 'base64');
    for (let at = 0; at < payload.length; at += 97) {
      const changed = Buffer.from(payload);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const file = await folder.write('changed.json', {
        ...envelope,
        payload: changed.toString('base64'),
      });
      const { code, proofs, says } = await verify(file, '--keys', files.keys);
      expect([code, proofs[0]]).toEqual([1, 'NOT proved signature']);
      expect(says['signature']).toMatch(/the report or its signature was changed/);
    }
  });

  test('fails on one changed character of the envelope, even if it decodes to the same bytes', async () => {
    const [signature] = envelope.signatures;
    const sig = signature?.sig ?? '';
    // The base64 text of 64 bytes ends in "x==", and four bits of x are padding.
    const lastCharacter = sig.charAt(85);
    const sameBytesCharacter = String.fromCharCode(lastCharacter.charCodeAt(0) + 1);
    const changed = [
      {
        ...envelope,
        signatures: [{ ...signature, sig: `${sig.slice(0, 85)}${sameBytesCharacter}==` }],
      },
      { ...envelope, signatures: [{ ...signature, sig: `${sig.slice(0, 86)}` }] },
      { ...envelope, signatures: [{ ...signature, keyid: 'another' }] },
      { ...envelope, payload: `${envelope.payload} ` },
    ];
    for (const changedEnvelope of changed) {
      const { code, proofs } = await verify(
        await folder.write('c.json', changedEnvelope),
        '--keys',
        files.keys,
      );
      expect([code, proofs[0]]).toEqual([1, 'NOT proved signature']);
    }
  });

  test('fails on one changed byte of the observations, and signature and time stay proved', async () => {
    const at = recording.indexOf('"observations"') + 100;
    for (const byte of [at, at + 5_000]) {
      const digit = /[0-9]/.exec(recording.slice(byte))?.[0] ?? '';
      const index = recording.indexOf(digit, byte);
      const other = String((Number(digit) + 1) % 10);
      const changed = `${recording.slice(0, index)}${other}${recording.slice(index + 1)}`;
      const file = await folder.write('changed-recording.json', changed);
      const run = await verify(files.envelope, '--keys', files.keys, '--recording', file);
      expect([run.code, run.proofs]).toEqual([
        1,
        [...ALL_PROVED.slice(0, 2), 'NOT proved recording'],
      ]);
      expect(run.says['recording']).toMatch(
        /^the recording has other observations: their digest is [0-9a-f]{64}/,
      );
    }
  });

  test('does not prove a recording that has another time, or whose budgets are used up', async () => {
    const value = JSON.parse(recording);
    const otherTime = { ...value, scannedAt: '2026-01-01T00:00:00.000Z' };
    const usedUp = { ...value, exhausted: ['origin'] };
    for (const [changed, says] of [
      [otherTime, /^the recording is of 2026-01-01T00:00:00.000Z, the report of /],
      [usedUp, /^judged again, P1, .* differ$/],
    ] as const) {
      const file = await folder.write('other.json', changed);
      const run = await verify(files.envelope, '--keys', files.keys, '--recording', file);
      expect([run.code, run.proofs[2]]).toEqual([1, 'NOT proved recording']);
      expect(run.says['recording']).toMatch(says);
    }
  });

  test('fails with a changed key, and with a different key', async () => {
    const [key] = keys.keys;
    const x = key?.x ?? '';
    const flipped = `${x.startsWith('A') ? 'B' : 'A'}${x.slice(1)}`;
    const { publicKey, kid } = makeSigningKey();
    for (const [changed, says] of [
      [{ ...key, x: flipped }, /^the key \S+ was changed/],
      [{ ...key, x: publicKey, kid }, /^the key set has no key \S+$/],
      [{ ...key, x: publicKey, kid: undefined }, /^the key set has no key \S+$/],
      [{ ...key, kid: `${key?.kid}x` }, /^the key set has no key \S+$/],
    ] as const) {
      const file = await folder.write('other-keys.json', { keys: [changed] });
      const run = await verify(files.envelope, '--keys', file);
      expect([run.code, run.proofs[0]]).toEqual([1, 'NOT proved signature']);
      expect(run.says['signature']).toMatch(says);
    }
  });

  test('proves the time only if the key was in use when the scan began', async () => {
    const [key] = keys.keys;
    const second = Date.parse(decodeStatement().predicate.report.scannedAt) / 1_000;
    for (const [times, code, says] of [
      [{ nbf: second, exp: second + 0.001 }, 0, /was in use at/],
      [{ nbf: second + 0.001 }, 1, /^the key was in use from .* on, after/],
      [{ exp: second }, 1, /^the key was in use until .*, before/],
      [{ nbf: undefined }, 1, /does not say when/],
      [{ exp: '9999999999' }, 1, /does not say when/],
    ] as const) {
      const file = await folder.write('times.json', { keys: [{ ...key, ...times }] });
      const run = await verify(files.envelope, '--keys', file);
      expect([run.code, run.proofs[0]]).toEqual([code, 'proved signature']);
      expect(run.says['time']).toMatch(says);
    }
  });

  test('does not prove a future scan, or results that the catalog does not give', async () => {
    const signed = async (change: (decodeStatement: StatementJson) => void) => {
      const changed: StatementJson = decodeStatement();
      change(changed);
      const [file, keySet] = await sign(changed);
      return verify(file, '--keys', keySet, '--recording', files.recording);
    };
    const future = await signed(({ predicate: { report } }) => {
      report['scannedAt'] = new Date(Date.now() + 60_000).toISOString();
    });
    expect([future.code, future.proofs[1]]).toEqual([1, 'NOT proved time']);
    const raised = await signed(({ predicate: { report } }) => {
      report['grade'] = report['grade'] === 'A' ? 'B' : 'A';
    });
    expect(raised.says['recording']).toMatch(/^judged again, the grade is/);
    const passed = await signed(({ predicate: { report } }) => {
      for (const result of report.results) result['status'] = 'pass';
    });
    expect(passed.says['recording']).toMatch(/^judged again, S7, .* D5 differ$/);
    const fewer = await signed(({ predicate: { report } }) => void report.results.push({}));
    expect(fewer.says['recording']).toMatch(/has 26 results, not 25/);
    const other = await signed(({ predicate: { catalog } }) => {
      catalog['digest'] = `sha256:${'0'.repeat(64)}`;
    });
    expect(other.says['recording']).toMatch(/^the catalog \S+ differs/);
    for (const { code, proofs } of [raised, passed, fewer, other]) {
      expect([code, proofs]).toEqual([1, [...ALL_PROVED.slice(0, 2), 'NOT proved recording']]);
    }
  });

  test('proves a site only with keys from that site', async () => {
    await using stranger = await startCraftedSeller({
      answers: { '/.well-known/jwks.json': { status: 200, body: STRANGER_KEYS } },
    });
    const signFor = (site: string) =>
      sign({ ...decodeStatement(), predicateType: `${site}/attestations/scan/v1` });
    const strangerKeys = `${stranger.url}/.well-known/jwks.json`;
    const { host: strangerHost } = new URL(stranger.url);
    for (const site of [
      'https://trusted.example.com',
      `http://trusted.example.com@${strangerHost}`,
    ]) {
      const [file, keySet] = await signFor(site);
      const byFile = await verify(file, '--keys', keySet);
      expect(byFile.code).toBe(0);
      expect(byFile.text).toContain(`says that it is by ${site}`);
      const byUrl = await verify(file, '--keys', strangerKeys);
      expect(byUrl.text).toContain(
        `keys of ${strangerKeys}, NOT proved site: they are not of ${site}`,
      );
      for (const { text } of [byFile, byUrl]) expect(text).not.toMatch(/, by /);
    }
    const [honest] = await signFor(stranger.url);
    const { code, text } = await verify(honest, '--keys', strangerKeys);
    expect([code, text]).toEqual([0, expect.stringContaining(`, by ${stranger.url}\n`)]);
    expect(text).not.toContain('NOT proved');
  });

  test.each(['https://other.com', 'https://shop.com ', ''])(
    'does not prove a subject that is not the origin of the report: %j',
    async (name) => {
      const changed = decodeStatement();
      changed.subject[0].name = name;
      const [file, keySet] = await sign(changed);
      const { code, proofs, text } = await verify(file, '--keys', keySet);
      expect([code, proofs]).toEqual([1, ['NOT proved subject']]);
      expect(text).not.toMatch(/\d+\/100/);
    },
  );

  test('writes no key of the service to a log', async () => {
    const [, secret = ''] = SIGNING_KEY.split('\n');
    await vi.waitFor(() => expect(instance.out()).toContain('/v1/attestation'), WAIT_OPTIONS);
    expect(instance.out() + instance.err()).not.toContain(secret);
  });

  test('refuses bad usage, missing files and a file without an envelope in one line', async () => {
    const report = await folder.write('report.json', decodeStatement().predicate.report);
    const [slsa, keySet] = await sign({ _type: 'other' });
    for (const [args, says] of [
      [[], /^usage: .* FILE \[--keys/],
      [[files.envelope, 'more'], /^usage:/],
      [[files.envelope, '--key', 'x'], /^Unknown option '--key'/],
      [[folder.at('none.json')], /none.json: cannot be read as JSON/],
      [[report], /not an envelope of a signed report/],
      [[files.envelope, '--keys', folder.at('none')], /--keys .*none: cannot be read/],
      [[files.envelope, '--keys', report], /not a JWK Set/],
      [[files.envelope, '--keys', `${instance.url}/nothing`], /answers 404 instead of a key set/],
      [[slsa, '--keys', keySet], /signed, but not a report of a scan/],
    ] as const) {
      await expect(verify(...args)).rejects.toThrow(says);
    }
  });

  test('prints no terminal command from an envelope', async () => {
    const changed = decodeStatement();
    const hostile = '\u001b[2J::set-output name=x::y\nproved  recording: all';
    changed.predicate.report.origin = hostile;
    changed.subject[0].name = hostile;
    const [file, keySet] = await sign(changed);
    const { text, proofs } = await verify(file, '--keys', keySet);
    expect(text).not.toContain('\u001b');
    expect(proofs).toEqual(['proved signature', 'proved time', 'not asked recording']);
  });
});

type StatementJson = {
  predicate: {
    report: {
      results: Record<string, string>[];
      [member: string]: string | Record<string, string>[];
    };
    catalog: Record<string, string>;
  };
};

function pick(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, value[name]]));
}
