import { toCaip2 } from '../../parse/x402/networks.ts';
import type { SellerChallenge, Terms } from '../payer.ts';
import type { TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

/** An address without an owner. */
const OTHER = '0x00000000000000000000000000000000000000A1';
const NETWORKS = {
  1: ['base-sepolia', 'base'],
  2: ['eip155:84532', 'eip155:8453'],
} as const;

/** T2: the buyer signs for terms of their own, and claims in the payload that they were accepted. */
export async function ownTerms(tester: RouteTester): Promise<TrialFinding> {
  const notes: string[] = [];
  let isGift = false;
  let isHandedOn = false;
  for (const [name, terms] of variantsOf(await tester.challenge())) {
    const attempt = await tester.attempt(terms);
    const wasHandedOn = tester.ledger
      .calls(attempt.nonce)
      .some(({ requirements }) => hasTermOf(requirements, terms));
    isGift ||= attempt.isDelivered;
    isHandedOn ||= wasHandedOn;
    notes.push(`${name}: ${attempt.description}${wasHandedOn ? " with the buyer's terms" : ''}`);
  }
  return { status: isGift || isHandedOn ? 'fail' : 'pass', evidence: notes.join('; '), isGift };
}

function variantsOf({
  version,
  terms,
}: SellerChallenge): readonly (readonly [string, Partial<Terms>])[] {
  const names = NETWORKS[version];
  const network = names.find((one) => toCaip2(one) !== toCaip2(terms.network)) ?? names[0];
  const amount = terms.amount === '1' ? '2' : '1';
  const [asset, payTo] = [OTHER, OTHER];
  // A payload of version 1 repeats only the signed value and recipient.
  const others = version === 1 ? {} : { asset, network };
  return [
    ['amount 1', { amount }],
    ['other recipient', { payTo }],
    ...(version === 1
      ? []
      : ([
          ['other asset', { asset }],
          ['other network', { network }],
        ] as const)),
    ['all of them', { amount, payTo, ...others }],
  ];
}

/** True if the seller asked the facilitator to check against a term that the buyer made up. */
function hasTermOf(requirements: Readonly<Record<string, unknown>>, made: Partial<Terms>): boolean {
  const handed: typeof requirements = {
    amount: requirements['maxAmountRequired'],
    ...requirements,
  };
  return Object.entries(made).some(
    ([name, value]) => toCaip2(String(handed[name]).toLowerCase()) === toCaip2(value.toLowerCase()),
  );
}
