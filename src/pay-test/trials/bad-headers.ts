import type { Payment } from '../payer.ts';
import { describeReply, isDelivery } from '../replies.ts';
import type { TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

const HEADERS = { 1: 'x-payment', 2: 'payment-signature' } as const;
const LONG_CHARS = 100_000;
const DEPTH = 5_000;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** T12: headers that hold no payment. Stops if `isAlive` says that the seller's process ended. */
export async function badHeaders(
  tester: RouteTester,
  isAlive: () => Promise<boolean>,
): Promise<TrialFinding> {
  const payment = await tester.pay();
  const delivered: string[] = [];
  const broken: string[] = [];
  for (const [name, headers] of formsOf(payment)) {
    const reply = await tester.ask({ headers });
    const reaction = `${name}: ${describeReply(reply)}`;
    if (!(await isAlive()))
      return { status: 'fail', evidence: `${reaction}, and its process ended` };
    const isSettled = tester.ledger.settled(payment.nonce) !== null;
    if (isDelivery(reply) && !isSettled) delivered.push(`${reaction} without a settlement`);
    if (reply.ok && reply.status >= 500) broken.push(reaction);
  }
  const evidence = [...delivered, ...broken].join('; ');
  if (delivered.length > 0) return { status: 'fail', evidence, isGift: true };
  if (broken.length > 0) return { status: 'warn', evidence };
  return { status: 'pass', evidence: 'no bad header is served, or answered by 5xx' };
}

type Form = readonly [name: string, headers: Readonly<Record<string, string>>];

function formsOf({ version, payload }: Payment): readonly Form[] {
  const form = (name: string, value: string, header: 1 | 2 = version): Form => [
    name,
    { [HEADERS[header]]: value },
  ];
  const as = (other: 1 | 2) => base64(JSON.stringify(asVersion(other, payload)));
  return [
    form('empty', ''),
    form('100 KB', base64('x'.repeat(LONG_CHARS)).slice(0, LONG_CHARS)),
    form('not base64', '%%% {} %%%'),
    form('base64 of no JSON', base64('no JSON')),
    form('JSON of no payment', base64('{"x402Version":2,"payload":[]}')),
    form('deep nesting', base64(`${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`)),
    form("version 1 in version 2's place", as(1), 2),
    form("version 2 in version 1's place", as(2), 1),
  ];
}

function asVersion(version: 1 | 2, payload: Payment['payload']): object {
  const accepted = 'accepted' in payload ? payload.accepted : payload;
  const { scheme, network } = { scheme: 'exact', network: '', ...(accepted as object) };
  return version === 1
    ? { x402Version: 1, scheme, network, payload: payload.payload }
    : { x402Version: 2, accepted, payload: payload.payload };
}
