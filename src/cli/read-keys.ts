import { readFile } from 'node:fs/promises';
import { type NamedKey, readKeySet } from '../attestation/read-key-set.ts';
import { OriginRefused } from '../guard/errors.ts';
import { askedUrl } from '../preflight/asked.ts';
import { createProbeClient } from '../probe/client/client.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';
import { policyFor } from './allow-private.ts';
import { UsageError } from './usage-error.ts';

const MAX_KEY_SET_BYTES = 256 * 1024;
const WEB_ADDRESS = /^https?:\/\//i;
const STATE_IT = 'Name the key set that you trust: --keys URL|FILE.';

export type KeySource = {
  /** A URL, or a file. */
  readonly at: string;
  /** True when the user named it. The report named it otherwise, so its address has to be public. */
  readonly isStated: boolean;
};

/** True for a URL, false for the name of a file. */
export function isWebAddress(at: string): boolean {
  return WEB_ADDRESS.test(at);
}

/** Throws UsageError and OriginRefused. */
export async function readKeys(source: KeySource): Promise<readonly NamedKey[]> {
  const text = isWebAddress(source.at) ? await fetchText(source) : await readText(source.at);
  const keys = readKeySet(parse(text, source.at));
  if (keys === null) throw new UsageError(`${source.at}: no JWK Set ({"keys": […]})`);
  return keys;
}

async function fetchText(source: KeySource): Promise<string> {
  try {
    return await ask(source);
  } catch (error) {
    if (!(error instanceof OriginRefused) || source.isStated) throw error;
    const { message } = error;
    throw new UsageError(
      `${source.at}, which the report names, is not asked: ${message} ${STATE_IT}`,
    );
  }
}

async function ask({ at, isStated }: KeySource): Promise<string> {
  const policy = policyFor(at, isStated);
  const { origin, path } = askedUrl(at, policy);
  const client = createProbeClient({ policy, userAgent: scannerUserAgent('command line') });
  try {
    const answer = await client.request({
      origin,
      path,
      method: 'GET',
      accept: 'application/jwk-set+json, application/json',
      capBytes: MAX_KEY_SET_BYTES,
      redirects: 'same-origin',
    });
    if (!answer.ok) throw new UsageError(`${at}: ${answer.reason} (${answer.detail})`);
    const { status, body } = answer.data;
    if (status !== 200) throw new UsageError(`${at}: answers ${status}, no key set`);
    return body;
  } finally {
    client.close();
  }
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`--keys ${file}: cannot be read (${messageOf(error)})`);
  });
}

function parse(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${at}: not JSON (${messageOf(error)})`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
