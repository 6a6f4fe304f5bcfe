import { caip2 } from '../../parse/x402/networks.ts';
import type { Bench } from '../bench.ts';
import type { Changes, Payment, Terms } from '../payer.ts';
import { describeReply, isDelivery } from '../replies.ts';
import type { Finding } from '../result.ts';

/** Nobody's. */
const OTHER = '0x00000000000000000000000000000000000000A1';
const NETWORKS = ['eip155:84532', 'eip155:8453'] as const;
const NETWORK_NAMES = ['base-sepolia', 'base'] as const;

/** T2: the buyer signs for terms of his own, and says that they were accepted. */
export async function ownTerms(bench: Bench): Promise<Finding> {
  const seen: string[] = [];
  let isGift = false;
  let isHandedOn = false;
  for (const [name, changes] of await variantsOf(bench)) {
    const payment = await bench.pay(changes);
    const reply = await bench.send(payment);
    const handed = handedOn(bench, payment, changes);
    isGift ||= isDelivery(reply);
    isHandedOn ||= handed;
    const asked = bench.ledger.describe(payment.nonce);
    seen.push(
      `${name}: ${describeReply(reply)}, ${asked}${handed ? " with the buyer's terms" : ''}`,
    );
  }
  return { status: isGift || isHandedOn ? 'fail' : 'pass', evidence: seen.join('; '), isGift };
}

async function variantsOf(bench: Bench): Promise<readonly (readonly [string, Changes])[]> {
  const { version, terms } = await bench.challenge();
  const names = version === 1 ? NETWORK_NAMES : NETWORKS;
  const network = names.find((one) => caip2(one) !== caip2(terms.network)) ?? names[0];
  const amount = terms.amount === '1' ? '2' : '1';
  // The first version's payload repeats nothing but the signed value and recipient.
  if (version === 1) {
    return [
      ['amount 1', { amount }],
      ['other recipient', { payTo: OTHER }],
      ['all of them', { amount, payTo: OTHER }],
    ];
  }
  return [
    ['amount 1', { amount }],
    ['other recipient', { payTo: OTHER }],
    ['other asset', { asset: OTHER }],
    ['other network', { network }],
    ['all of them', { amount, payTo: OTHER, asset: OTHER, network }],
  ];
}

/** Whether the seller told the facilitator to check against a term that the buyer made up. */
function handedOn(bench: Bench, { nonce }: Payment, changes: Partial<Terms>): boolean {
  const made = Object.entries(changes).map(([name, value]) => [name, String(value).toLowerCase()]);
  return bench.ledger.calls(nonce).some(({ requirements }) =>
    made.some(([name, value]) => {
      const member =
        name === 'amount'
          ? (requirements['amount'] ?? requirements['maxAmountRequired'])
          : requirements[name ?? ''];
      const text = String(member).toLowerCase();
      return caip2(text) === caip2(value ?? '');
    }),
  );
}
