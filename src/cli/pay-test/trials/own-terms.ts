import { toCaip2 } from '../../../scanner/parse/x402/networks.ts';
import type { Members } from '../judge-payment.ts';
import type { SellerChallenge, Terms } from '../payer.ts';
import { mergeFindings, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

/** Nobody has the key of this address. */
export const UNOWNED_ADDRESS = '0x00000000000000000000000000000000000000A1';
const NETWORK_CHOICES = {
  1: ['base-sepolia', 'base'],
  2: ['eip155:84532', 'eip155:8453'],
} as const;

/** T2: the buyer changes the seller's terms, signs the changed terms, and sends them as the accepted terms. */
export async function tryOwnTerms(tester: RouteTester): Promise<TrialFinding> {
  const findings: TrialFinding[] = [];
  for (const [name, terms] of listVariants(await tester.fetchChallenge())) {
    const { nonce, isDelivered: isGift, description } = await tester.signAndSend(terms);
    const isForwarded = tester.ledger
      .listCalls(nonce)
      .some(({ requirements }) => hasChangedTerm(requirements, terms));
    const evidence = `${name}: ${description}${isForwarded ? " with the buyer's terms" : ''}`;
    findings.push({ status: isGift || isForwarded ? 'fail' : 'pass', evidence, isGift });
  }
  return mergeFindings(findings);
}

function listVariants({
  version,
  terms,
}: SellerChallenge): readonly (readonly [string, Partial<Terms>])[] {
  const choices = NETWORK_CHOICES[version];
  const network =
    choices.find((choice) => toCaip2(choice) !== toCaip2(terms.network)) ?? choices[0];
  const amount = terms.amount === '1' ? '2' : '1';
  const [asset, payTo] = [UNOWNED_ADDRESS, UNOWNED_ADDRESS];
  const variants = [
    [`amount ${amount}`, { amount }],
    ['other recipient', { payTo }],
  ] as const;
  // A payload of version 1 repeats only the signed value and recipient.
  if (version === 1) return [...variants, ['all of them', { amount, payTo }]];
  return [
    ...variants,
    ['other asset', { asset }],
    ['other network', { network }],
    ['all of them', { amount, payTo, asset, network }],
  ];
}

/** True if the seller sent the facilitator a term that the buyer changed. */
function hasChangedTerm(requirements: Members, changedTerms: Partial<Terms>): boolean {
  const sentTerms: Members = { amount: requirements['maxAmountRequired'], ...requirements };
  return Object.entries(changedTerms).some(
    ([name, value]) =>
      toCaip2(String(sentTerms[name]).toLowerCase()) === toCaip2(value.toLowerCase()),
  );
}
