import type { Payment } from '../payer.ts';
import { describeReply, isDelivery } from '../replies.ts';
import type { TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

const PAYMENT_HEADERS = { 1: 'x-payment', 2: 'payment-signature' } as const;
const LONG_HEADER_CHARS = 100_000;
const NESTING_DEPTH = 5_000;

const toBase64 = (text: string) => Buffer.from(text).toString('base64');

/** T12: sends headers that hold no valid payment. Stops if the seller's process ended. */
export async function tryBadHeaders(
  tester: RouteTester,
  isAlive: () => Promise<boolean>,
): Promise<TrialFinding> {
  const payment = await tester.signPayment();
  const deliveries: string[] = [];
  const serverErrors: string[] = [];
  for (const [name, headers] of listBadHeaders(payment)) {
    const reply = await tester.request({ headers });
    const reaction = `${name}: ${describeReply(reply)}`;
    if (!(await isAlive()))
      return { status: 'fail', evidence: `${reaction}, and its process ended` };
    const isSettled = tester.ledger.findSettlement(payment.nonce) !== null;
    if (isDelivery(reply) && !isSettled) deliveries.push(`${reaction} without a settlement`);
    if (reply.ok && reply.status >= 500) serverErrors.push(reaction);
  }
  const evidence = [...deliveries, ...serverErrors].join('; ');
  if (deliveries.length > 0) return { status: 'fail', evidence, isGift: true };
  if (serverErrors.length > 0) return { status: 'warn', evidence };
  return { status: 'pass', evidence: 'no bad header got the resource or a 5xx' };
}

type BadHeader = readonly [name: string, headers: Readonly<Record<string, string>>];

function listBadHeaders({ version, payload }: Payment): readonly BadHeader[] {
  const toBadHeader = (name: string, value: string, headerVersion: 1 | 2 = version): BadHeader => [
    name,
    { [PAYMENT_HEADERS[headerVersion]]: value },
  ];
  const encodeAs = (target: 1 | 2) => toBase64(JSON.stringify(toVersion(target, payload)));
  return [
    toBadHeader('empty', ''),
    toBadHeader('100 KB', toBase64('x'.repeat(LONG_HEADER_CHARS)).slice(0, LONG_HEADER_CHARS)),
    toBadHeader('not base64', '%%% {} %%%'),
    toBadHeader('base64 of text that is not JSON', toBase64('no JSON')),
    toBadHeader('JSON that is not a payment', toBase64('{"x402Version":2,"payload":[]}')),
    toBadHeader(
      'deep nesting',
      toBase64(`${'['.repeat(NESTING_DEPTH)}${']'.repeat(NESTING_DEPTH)}`),
    ),
    toBadHeader("version 1 in version 2's place", encodeAs(1), 2),
    toBadHeader("version 2 in version 1's place", encodeAs(2), 1),
  ];
}

function toVersion(version: 1 | 2, payload: Payment['payload']): object {
  const accepted = 'accepted' in payload ? payload.accepted : payload;
  const { scheme, network } = { scheme: 'exact', network: '', ...(accepted as object) };
  return version === 1
    ? { x402Version: 1, scheme, network, payload: payload.payload }
    : { x402Version: 2, accepted, payload: payload.payload };
}
