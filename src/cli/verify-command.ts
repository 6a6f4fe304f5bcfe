/** `verify FILE`: proves a signed report by its keys and, with a recording, by judging it again. */
import {
  type EnvelopeProof,
  fromBase64,
  PAYLOAD_TYPE,
  proveSignature,
  proveTime,
  readEnvelope,
} from '../scanner/attestation/envelope.ts';
import { readKeySet, type VerificationKey } from '../scanner/attestation/key-set.ts';
import { readStatement } from '../scanner/attestation/statement.ts';
import { OriginRefused } from '../scanner/guard/failures.ts';
import { messageOf } from '../scanner/model/redact.ts';
import { cleanText } from '../scanner/parse/text/text.ts';
import { parsePreflightUrl } from '../scanner/preflight/result.ts';
import { createProbeClient } from '../scanner/probe/client/client.ts';
import { scannerUserAgent } from '../scanner/probe/client/user-agent.ts';
import { policyFor } from './allow-private.ts';
import { defuseCommands } from './formatters/escapes.ts';
import { readJson, readText, type Streams, write } from './io.ts';
import { readFlags, UsageError, usageLine } from './usage.ts';

const KEY_SET_PATH = '/.well-known/jwks.json';
const MAX_KEY_SET_BYTES = 256 * 1024;
const MAX_LINE_CHARS = 1_000;

type KeySource = {
  /** A URL, or a file. */
  readonly location: string;
  /** False if the report named the URL, which then has to be public. */
  readonly isNamedByUser: boolean;
};

/** Returns exit code 0 if every requested proof holds, 1 otherwise. Throws UsageError and OriginRefused. */
export async function verifyCommand(args: readonly string[], { out }: Streams): Promise<0 | 1> {
  const { lines, isProved } = await verify(parse(args));
  // The report and the keys are untrusted text.
  const cleanLines = lines.map((line) => cleanText(line, MAX_LINE_CHARS));
  await write(out, defuseCommands(`${cleanLines.join('\n')}\n`));
  return isProved ? 0 : 1;
}

async function verify(call: ReturnType<typeof parse>) {
  const envelope = await readFileEnvelope(call.file);
  const payload = fromBase64(envelope.payload);
  const statement = payload && readStatement(payload);
  const source = chooseKeySource(call, statement?.site ?? null);
  // Without `--keys`, only a statement names a key set.
  if (source === null) {
    const problem = 'NOT proved signature: the payload is not a statement about a scan';
    return { lines: [problem], isProved: false };
  }
  if (statement !== null && statement.subject !== statement.report.origin) {
    const { subject, report } = statement;
    const difference = `the subject is ${subject}, the report is of ${report.origin}`;
    return { lines: [`NOT proved subject: ${difference}`], isProved: false };
  }
  const signature = proveSignature(envelope, await readKeys(source));
  if (statement === null) {
    if (signature.isProved)
      throw new UsageError(`${call.file}: signed, but not a report of a scan`);
    const lines = [toKeysLine(source, null), toProofLine('signature', signature)];
    return { lines, isProved: false };
  }
  const { report, site } = statement;
  const time = proveTime(report.scannedAt, signature.key, Date.now());
  // Loaded on demand, because only a recording needs the engine.
  const recording =
    call.recording === null
      ? null
      : await (await import('./prove-recording.ts')).proveRecording(call.recording, statement);
  const signer = isOfSite(source, site) ? `by ${site}` : `says that it is by ${site}`;
  const lines = [
    `${report.origin}: ${report.grade} ${report.score}/100, scanned ${report.scannedAt}, ${signer}`,
    toKeysLine(source, site),
    toProofLine('signature', signature),
    toProofLine('time', time),
    recording === null
      ? 'not asked recording: --recording FILE judges the recorded answers again'
      : toProofLine('recording', recording),
  ];
  // `recording` is null if nobody asked for its proof.
  const isProved = [signature, time, recording].every((proof) => proof?.isProved ?? true);
  return { lines, isProved };
}

function parse(args: readonly string[]) {
  const { values, positionals } = readFlags('verify', args, {
    keys: { type: 'string' },
    recording: { type: 'string' },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError(usageLine('verify'));
  return { file, keys: values.keys ?? null, recording: values.recording ?? null };
}

async function readFileEnvelope(file: string) {
  const envelope = readEnvelope(await readJson(file));
  if (envelope?.payloadType === PAYLOAD_TYPE) return envelope;
  throw new UsageError(
    `${file}: not an envelope of a signed report, which GET /v1/attestation answers`,
  );
}

/** Null if neither the user nor the report names a key set. */
function chooseKeySource(
  { keys }: ReturnType<typeof parse>,
  site: string | null,
): KeySource | null {
  if (keys !== null) return { location: keys, isNamedByUser: true };
  return site === null ? null : { location: `${site}${KEY_SET_PATH}`, isNamedByUser: false };
}

/** True if the site itself serves the keys. A report does not prove its site, because a report can name any site. */
function isOfSite({ location }: KeySource, site: string): boolean {
  const [keysUrl, siteUrl] = [URL.parse(location), URL.parse(site)];
  if (keysUrl === null || siteUrl === null || siteUrl.username !== '') return false;
  return isWebAddress(location) && keysUrl.origin === siteUrl.origin;
}

/** Names the source of the keys, because anybody can sign reports for a site of their own. */
function toKeysLine(source: KeySource, site: string | null): string {
  const { location, isNamedByUser } = source;
  if (!isNamedByUser) {
    return `keys of ${location}, which the report itself names: is this the scanner that you trust?`;
  }
  // The user chose these keys, so they prove the signature, and the exit code does not depend on the site.
  const isOfOtherSite = site !== null && isWebAddress(location) && !isOfSite(source, site);
  return isOfOtherSite
    ? `keys of ${location}, NOT proved site: they are not of ${site}`
    : `keys of ${location}`;
}

function toProofLine(proofName: string, { isProved, message }: EnvelopeProof): string {
  return `${isProved ? 'proved' : 'NOT proved'} ${proofName}: ${message}`;
}

function isWebAddress(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

/** Throws UsageError and OriginRefused. */
async function readKeys(source: KeySource): Promise<readonly VerificationKey[]> {
  const text = isWebAddress(source.location)
    ? await fetchText(source)
    : await readText(source.location, `--keys ${source.location}`);
  const keys = readKeySet(parseJson(text, source.location));
  if (keys === null) throw new UsageError(`${source.location}: not a JWK Set ({"keys": […]})`);
  return keys;
}

async function fetchText(source: KeySource): Promise<string> {
  try {
    return await requestKeys(source);
  } catch (error) {
    if (!(error instanceof OriginRefused) || source.isNamedByUser) throw error;
    throw new UsageError(
      `${source.location}, which the report names, is not requested: ${error.message} Name the key set that you trust: --keys URL|FILE.`,
    );
  }
}

async function requestKeys({ location, isNamedByUser }: KeySource): Promise<string> {
  const policy = policyFor(location, isNamedByUser);
  const { origin, path } = parsePreflightUrl(location, policy);
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
    if (!answer.ok) throw new UsageError(`${location}: ${answer.reason} (${answer.detail})`);
    const { status, body } = answer.data;
    if (status !== 200) throw new UsageError(`${location}: answers ${status} instead of a key set`);
    return body;
  } finally {
    client.close();
  }
}

function parseJson(text: string, location: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${location}: not JSON (${messageOf(error)})`);
  }
}
