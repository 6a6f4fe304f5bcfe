/** Payments that the seller must refuse: with the buyer's own terms, used before, for another route, out of time. */
import { toCaip2 } from '../../../scanner/parse/x402/networks.ts';
import type { Members } from '../judge-payment.ts';
import type { SellerChallenge, Terms } from '../payer.ts';
import { describeReply, isDelivery, isRedelivery } from '../replies.ts';
import { failIfFree, mergeFindings, notRun, type TrialFinding } from '../result.ts';
import { catchNoChallenge, type RouteTester, toRouteName } from '../route-tester.ts';
import type { SellerAnswer } from '../seller-client.ts';

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
    const { nonce, isDelivered, description } = await tester.signAndSend(terms);
    const isForwarded = tester.ledger
      .listCalls(nonce)
      .some(({ requirements }) => hasChangedTerm(requirements, terms));
    const evidence = `${name}: ${description}${isForwarded ? " with the buyer's terms" : ''}`;
    const status = isDelivered || isForwarded ? 'fail' : 'pass';
    findings.push({ status, evidence, isGift: isDelivered });
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

/** True if the seller sent the facilitator a term that the buyer changed. `toCaip2` only changes names of networks. */
function hasChangedTerm(requirements: Members, changedTerms: Partial<Terms>): boolean {
  const sentTerms: Members = { amount: requirements['maxAmountRequired'], ...requirements };
  return Object.entries(changedTerms).some(
    ([name, value]) =>
      toCaip2(String(sentTerms[name]).toLowerCase()) === toCaip2(value.toLowerCase()),
  );
}

const RACING_REQUESTS = 10;
const STALE_TIMES = [
  ['validBefore past', { validAfterSec: -600, validBeforeSec: -60 }],
  ['validAfter ahead', { validAfterSec: 3_600, validBeforeSec: 7_200 }],
] as const;

/** T7: sends the same header again after its payment was settled. */
export async function tryReplay(tester: RouteTester): Promise<TrialFinding> {
  const payment = await tester.signPayment();
  const { reply: first } = await tester.sendPayment(payment);
  const { reply: second } = await tester.sendPayment(payment);
  const calls = tester.ledger.describeCalls(payment.nonce);
  const replies = `the same header twice: ${describeReply(first)}, then ${describeReply(second)}`;
  if (!isDelivery(first)) return notRun(`${replies}: nothing to replay`);
  if (!isDelivery(second)) return failIfFree(false, `${replies}, ${calls}`);
  const isRepeated = isRedelivery(first, second);
  const description = isRepeated ? 'a redelivery of the same answer' : 'delivered anew';
  return failIfFree(!isRepeated, `${replies}, ${description}, ${calls}`);
}

/** T8: sends the same header ten times at once. */
export async function tryRace(tester: RouteTester): Promise<TrialFinding> {
  const payment = await tester.signPayment();
  tester.facilitator.holdVerify(payment.nonce, RACING_REQUESTS, tester.timing.raceMs);
  const attempts = await Promise.all(
    Array.from({ length: RACING_REQUESTS }, () => tester.sendPayment(payment)),
  );
  const deliveries = attempts.map(({ reply }) => reply).filter(isDelivery);
  const distinctAnswers: SellerAnswer[] = [];
  for (const answer of deliveries) {
    if (!distinctAnswers.some((other) => isRedelivery(other, answer))) distinctAnswers.push(answer);
  }
  const redeliveries = deliveries.length - distinctAnswers.length;
  const verifiedCalls = tester.ledger
    .listCalls(payment.nonce, 'verify')
    .filter(({ reason }) => reason === null);
  const evidence = [
    `the same header ${RACING_REQUESTS} times at once: ${formatCount(distinctAnswers.length, 'delivery', 'deliveries')}`,
    ...(redeliveries > 0
      ? [`${formatCount(redeliveries, 'redelivery', 'redeliveries')} of it`]
      : []),
    tester.ledger.describeCalls(payment.nonce),
    ...(verifiedCalls.length > 1 ? [`the handler may have run ${verifiedCalls.length} times`] : []),
  ].join(', ');
  return failIfFree(distinctAnswers.length > 1, evidence);
}

/** T9: sends a payment that was signed for a cheaper route. */
export async function tryOtherResource(
  tester: RouteTester,
  testers: readonly RouteTester[],
): Promise<TrialFinding> {
  const cheaper = await findCheaperRoute(tester, testers);
  if (cheaper === null) return notRun('no other route with a lower price was found');
  const { isDelivered, description } = await tester.sendPayment(await cheaper.signPayment());
  return failIfFree(isDelivered, `a payment for ${toRouteName(cheaper.route)}: ${description}`);
}

/** Finds a route with a lower price, preferably in the same asset. */
async function findCheaperRoute(
  tester: RouteTester,
  testers: readonly RouteTester[],
): Promise<RouteTester | null> {
  const ownPrice = await findPrice(tester);
  if (ownPrice === null) return null;
  const others = await Promise.all(
    testers.map(async (other) => ({ other, price: await findPrice(other) })),
  );
  const cheaper = others.filter(({ price }) => price !== null && price.amount < ownPrice.amount);
  const sameAsset = cheaper.find(({ price }) => price?.asset === ownPrice.asset);
  return (sameAsset ?? cheaper[0])?.other ?? null;
}

async function findPrice(tester: RouteTester): Promise<{ amount: bigint; asset: string } | null> {
  return catchNoChallenge(
    async () => {
      const { network, asset, amount } = (await tester.fetchChallenge()).terms;
      if (!/^\d{1,78}$/.test(amount)) return null;
      return { amount: BigInt(amount), asset: `${network} ${asset.toLowerCase()}` };
    },
    () => null,
  );
}

/** T10: sends a payment that is no longer valid, and one that is not yet valid. */
export async function tryStaleTimes(tester: RouteTester): Promise<TrialFinding> {
  const findings: TrialFinding[] = [];
  for (const [name, times] of STALE_TIMES) {
    const { isDelivered, description } = await tester.signAndSend(times);
    findings.push(failIfFree(isDelivered, `${name}: ${description}`));
  }
  return mergeFindings(findings);
}

function formatCount(count: number, singular: string, plural: string): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
