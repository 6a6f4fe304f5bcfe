import { readMembers } from '../../../scanner/model/json.ts';
import type { Members } from '../judge-payment.ts';
import type { Payment } from '../payer.ts';
import { describeReply, isDelivery } from '../replies.ts';
import type { TrialFinding } from '../result.ts';
import { catchNoChallenge, type RouteTester } from '../route-tester.ts';
import { UNOWNED_ADDRESS } from './wrong-payments.ts';

const PAYMENT_HEADERS = { 1: 'x-payment', 2: 'payment-signature' } as const;
const LONG_HEADER_CHARS = 100_000;
const NESTING_DEPTH = 5_000;

const toBase64 = (text: string) => Buffer.from(text).toString('base64');

/** Value of a header: base64 of JSON that is not a payment. */
const NOT_A_PAYMENT = toBase64('{"x402Version":2,"payload":[]}');
/** Sent in place of a payment on a route that cannot be paid. */
const UNSIGNED_PAYLOAD: Members = {
  scheme: 'exact',
  network: 'eip155:84532',
  payload: { signature: '0x', authorization: {} },
};

/** T12: sends headers that hold no valid payment. Stops if the seller's process ended. */
export async function tryBadHeaders(
  tester: RouteTester,
  isAlive: () => Promise<boolean>,
): Promise<TrialFinding> {
  const payment = await catchNoChallenge(
    () => tester.signPayment(),
    () => null,
  );
  const deliveries: string[] = [];
  const serverErrors: string[] = [];
  for (const [name, headers] of listBadHeaders(payment)) {
    const reply = await tester.request({ headers });
    const reaction = `${name}: ${describeReply(reply)}`;
    if (!(await isAlive()))
      return { status: 'fail', evidence: `${reaction}, and its process ended` };
    const isSettled = payment !== null && tester.ledger.isSettled(payment.nonce);
    if (isDelivery(reply) && !isSettled) deliveries.push(`${reaction} without a settlement`);
    if (reply.ok && reply.status >= 500) serverErrors.push(reaction);
  }
  const evidence = [...deliveries, ...serverErrors].join('; ');
  if (deliveries.length > 0) return { status: 'fail', evidence, isGift: true };
  if (serverErrors.length > 0) return { status: 'warn', evidence };
  return { status: 'pass', evidence: 'no bad header got the resource or a 5xx' };
}

type BadHeader = readonly [name: string, headers: Readonly<Record<string, string>>];

/** Without a payment, the seller's version is unknown. All requests but the last two then have both headers. */
function listBadHeaders(payment: Payment | null): readonly BadHeader[] {
  const versions = payment === null ? ([1, 2] as const) : [payment.version];
  const toBadHeader = (name: string, value: string, inVersions = versions): BadHeader => [
    name,
    Object.fromEntries(inVersions.map((version) => [PAYMENT_HEADERS[version], value])),
  ];
  const payload = payment === null ? UNSIGNED_PAYLOAD : readMembers(payment.payload);
  const encodeAs = (target: 1 | 2) => toBase64(JSON.stringify(toVersion(target, payload)));
  return [
    toBadHeader('empty', ''),
    toBadHeader('100 KB', toBase64('x'.repeat(LONG_HEADER_CHARS)).slice(0, LONG_HEADER_CHARS)),
    toBadHeader('not base64', '%%% {} %%%'),
    toBadHeader('base64 of text that is not JSON', toBase64('no JSON')),
    toBadHeader('JSON that is not a payment', NOT_A_PAYMENT),
    toBadHeader(
      'deep nesting',
      toBase64(`${'['.repeat(NESTING_DEPTH)}${']'.repeat(NESTING_DEPTH)}`),
    ),
    toBadHeader("version 1 in version 2's place", encodeAs(1), [2]),
    toBadHeader("version 2 in version 1's place", encodeAs(2), [1]),
  ];
}

/** Writes a payment in the form of `version`. `members` are those of either version; version 1 has no `accepted`. */
function toVersion(version: 1 | 2, members: Members): object {
  const { accepted = members, payload } = members;
  const { scheme = 'exact', network = '' } = readMembers(accepted);
  return version === 1
    ? { x402Version: 1, scheme, network, payload }
    : { x402Version: 2, accepted, payload };
}

const FIX =
  'Deliver only after verify and settle of your facilitator accepted the payment, and turn off any mode that takes every header.';

type Gift = { readonly id: 'T2' | 'T12'; readonly finding: TrialFinding };

/**
 * Sends a header that is not a payment, and a good payment to another recipient, to a seller that delivers without
 * asking our facilitator. Returns no gift if the seller refuses both: it then asks another facilitator.
 */
export async function tryAnyPayment(tester: RouteTester): Promise<readonly Gift[]> {
  const payment = await tester.signPayment({ payTo: UNOWNED_ADDRESS });
  const reply = await tester.request({
    headers: { [PAYMENT_HEADERS[payment.version]]: NOT_A_PAYMENT },
  });
  const { isDelivered, description } = await tester.sendPayment(payment);
  const toGift = (id: Gift['id'], name: string, reaction: string): Gift => ({
    id,
    finding: { status: 'fail', evidence: `${name}: ${reaction}`, isGift: true, fix: FIX },
  });
  return [
    ...(isDelivered ? [toGift('T2', 'a payment to another recipient', description)] : []),
    ...(isDelivery(reply)
      ? [toGift('T12', 'a header that is not a payment', describeReply(reply))]
      : []),
  ];
}
