import type { Bench } from '../bench.ts';
import type { Payment } from '../payer.ts';
import { describeReply, isDelivery } from '../replies.ts';
import type { Finding } from '../result.ts';

const HEADERS = { 1: 'x-payment', 2: 'payment-signature' } as const;
const LONG_CHARS = 100_000;
const DEPTH = 5_000;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** T12: headers that hold no payment. `isAlive` ends it where the seller's process did. */
export async function badHeaders(bench: Bench, isAlive: () => Promise<boolean>): Promise<Finding> {
  const payment = await bench.pay();
  const broken: string[] = [];
  const given: string[] = [];
  for (const [name, headers] of formsOf(payment)) {
    const reply = await bench.ask({ headers });
    if (!(await isAlive())) {
      return {
        status: 'fail',
        evidence: `${name}: ${describeReply(reply)}, and its process ended`,
      };
    }
    const isSettled = bench.ledger.settled(payment.nonce) !== null;
    if (isDelivery(reply) && !isSettled)
      given.push(`${name}: ${describeReply(reply)} without a settlement`);
    if (reply.ok && reply.status >= 500) broken.push(`${name}: ${describeReply(reply)}`);
  }
  const evidence = [...given, ...broken].join('; ');
  if (given.length > 0) return { status: 'fail', evidence, isGift: true };
  if (broken.length > 0) return { status: 'warn', evidence };
  return {
    status: 'pass',
    evidence: 'no header without a payment in it is served, or answered by 5xx',
  };
}

type Form = readonly [name: string, headers: Readonly<Record<string, string>>];

function formsOf({ version, payload }: Payment): readonly Form[] {
  const own = HEADERS[version];
  const form = (name: string, value: string): Form => [name, { [own]: value }];
  return [
    form('empty', ''),
    form('100 KB', base64('x'.repeat(LONG_CHARS)).slice(0, LONG_CHARS)),
    form('not base64', '%%% {} %%%'),
    form('base64 of no JSON', base64('no JSON')),
    form('JSON of no payment', base64('{"x402Version":2,"payload":[]}')),
    form('deep nesting', base64(`${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`)),
    [
      "version 1 in version 2's place",
      { [HEADERS[2]]: base64(JSON.stringify(asVersion(1, payload))) },
    ],
    [
      "version 2 in version 1's place",
      { [HEADERS[1]]: base64(JSON.stringify(asVersion(2, payload))) },
    ],
  ];
}

function asVersion(version: 1 | 2, payload: Payment['payload']): object {
  const accepted = 'accepted' in payload ? payload.accepted : payload;
  const { scheme, network } = { scheme: 'exact', network: '', ...(accepted as object) };
  return version === 1
    ? { x402Version: 1, scheme, network, payload: payload.payload }
    : { x402Version: 2, accepted, payload: payload.payload };
}
