/** The Python packages securesystemslib and in-toto-attestation verify our signed reports. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ensurePythonJudges } from '../../fixtures/judges/python-judges.ts';
import { needs } from '../../fixtures/needs.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

const HOST = 'shop.example.com';
const SCRIPT = fileURLToPath(
  new URL('../../fixtures/judges/python/verify_attestation.py', import.meta.url),
);
const PACKAGES = ['securesystemslib==1.6.0', 'cryptography==50.0.2', 'in-toto-attestation==0.9.3'];
const judges = await ensurePythonJudges(PACKAGES);

async function judge(python: string, input: object) {
  const child = spawn(python, [SCRIPT], { stdio: 'pipe' });
  child.stdin.end(JSON.stringify(input));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { out, err };
}

describe('a signed report', needs('unavailable' in judges ? judges.unavailable : null), () => {
  const python = 'python' in judges ? judges.python : '';

  test('is verified by securesystemslib and read by in-toto-attestation', async () => {
    await using app = await startApp();
    await app.publish(HOST, { results: { P1: { evidence: 'a lone \ud800, é, \u2028 and "' } } });
    const envelope = (await app.get(`/v1/attestation?url=${HOST}`)).json();
    const keys = (await app.get('/.well-known/jwks.json')).json();
    const { out, err } = await judge(python, { envelope, keys });
    expect(err).toBe('');
    const { statement, ...rest } = JSON.parse(out);
    expect(rest).toEqual({
      keys: [keys.keys[0].kid],
      payloadType: 'application/vnd.in-toto+json',
    });
    const payload = JSON.parse(Buffer.from(envelope.payload, 'base64').toString());
    expect(statement).toEqual(payload);
    expect(statement.predicate.report.results[0].evidence).toContain('a lone \ufffd, é');
  });

  test('with a changed byte is refused by securesystemslib', async () => {
    await using app = await startApp();
    await app.publish(HOST);
    const envelope = (await app.get(`/v1/attestation?url=${HOST}`)).json();
    const keys = (await app.get('/.well-known/jwks.json')).json();
    const changed = Buffer.from(envelope.payload, 'base64')
      .toString()
      .replace('"grade":"A"', '"grade":"B"');
    const payload = Buffer.from(changed).toString('base64');
    const { out, err } = await judge(python, { envelope: { ...envelope, payload }, keys });
    expect(out).toBe('');
    expect(err).toMatch(/VerificationError|not meet|signature/i);
  });
});
