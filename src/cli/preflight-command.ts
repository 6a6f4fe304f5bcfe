/** `preflight URL`: says whether to pay a URL, before anything is signed. */
import { formatProtocol } from '../scanner/parse/x402/other-protocol.ts';
import {
  isPrice,
  type Preflight,
  type PreflightOffer,
  type PreflightVerdict,
  type ReasonCode,
} from '../scanner/preflight/result.ts';
import { addFlagHint, policyFor } from './allow-private.ts';
import { askUrlOnce } from './ask-url.ts';
import { defuseCommands, toPrintedJson } from './formatters/escapes.ts';
import { noteProxy, type Streams, write } from './io.ts';
import { parseChoice, readFlags, UsageError, usageLine } from './usage.ts';

const METHOD_PATTERN = /^[A-Z]{3,7}$/;
/** Reasons that a network without direct access to the internet causes too. */
const NETWORK_CODES: readonly ReasonCode[] = ['unreachable', 'no_answer'];

/** Returns exit code 0 for go, and for caution without --strict; 1 otherwise. Throws UsageError and OriginRefused. */
export async function preflightCommand(args: readonly string[], streams: Streams): Promise<0 | 1> {
  const call = parse(args);
  let isReached = false;
  try {
    const preflight = await runPreflight(call);
    isReached = !preflight.reasons.some(({ code }) => NETWORK_CODES.includes(code));
    const text = call.format === 'json' ? toPrintedJson(preflight) : toText(preflight);
    await write(streams.out, text);
    return toExitCode(preflight.verdict, call.isStrict);
  } finally {
    if (!isReached) await noteProxy(streams.err);
  }
}

async function runPreflight(call: ReturnType<typeof parse>): Promise<Preflight> {
  // Throws if `--allow-private` is set for a text that is not a URL.
  policyFor(call.url, call.allowPrivate);
  const preflight = await askUrlOnce({ ...call, caller: 'command line' });
  if (call.allowPrivate) return preflight;
  const reasons = preflight.reasons.map(({ code, evidence }) => ({
    code,
    evidence: code === 'refused' ? addFlagHint(evidence, call.url) : evidence,
  }));
  return { ...preflight, reasons };
}

function parse(args: readonly string[]) {
  const { values, positionals } = readFlags('preflight', args, {
    method: { type: 'string' },
    'max-price': { type: 'string' },
    'allow-private': { type: 'boolean' },
    strict: { type: 'boolean' },
    format: { type: 'string' },
  });
  const [url, ...more] = positionals;
  if (url === undefined || more.length > 0) throw new UsageError(usageLine('preflight'));
  const method = (values.method ?? 'GET').toUpperCase();
  if (!METHOD_PATTERN.test(method)) {
    throw new UsageError(`--method ${JSON.stringify(values.method)}: give GET, POST, PUT, …`);
  }
  const maxPrice = values['max-price'] ?? null;
  if (maxPrice !== null && !isPrice(maxPrice)) {
    throw new UsageError(`--max-price ${JSON.stringify(maxPrice)}: give a price such as 0.05`);
  }
  const format = parseChoice('--format', values.format ?? 'text', ['text', 'json']);
  const allowPrivate = values['allow-private'] ?? false;
  return { url, method, maxPrice, allowPrivate, isStrict: values.strict ?? false, format };
}

function toExitCode(verdict: PreflightVerdict, isStrict: boolean): 0 | 1 {
  return verdict === 'no-go' || (isStrict && verdict === 'caution') ? 1 : 0;
}

function toText({ verdict, reasons, terms, termsDigest, otherWays = [] }: Preflight): string {
  const offers = terms?.offers ?? [];
  const lines = [
    verdict,
    ...reasons.map(({ code, evidence }) => `  ${code}: ${evidence}`),
    ...offers.map(formatOffer),
    ...otherWays.map((way) => `  other way to pay: ${formatProtocol(way)}`),
    ...(termsDigest === null ? [] : [`  terms ${termsDigest}`]),
  ];
  return defuseCommands(`${lines.join('\n')}\n`);
}

/** Names each member that the offer lacks. An entry without any of them is not an offer. */
function formatOffer(offer: PreflightOffer): string {
  const { pointer, scheme, network, price, amount, asset, payTo } = offer;
  if ([scheme, network, amount, asset, payTo].every((member) => member === null)) {
    return `  ${pointer}: cannot be read`;
  }
  const cost = price ?? `${amount ?? 'no amount'} of ${asset ?? 'no asset'}`;
  const pair = `${scheme ?? 'no scheme'} on ${network ?? 'no network'}`;
  return `  ${pointer}: ${cost}, ${pair}, to ${payTo ?? 'no recipient'}`;
}
