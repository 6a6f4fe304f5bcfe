/** Advice covers what a seller should know and no check grades. Pure; runs on a worker. */

import type { Observations, ResourceSet } from '../model/observations.ts';
import type { OtherWay } from '../model/payability.ts';
import { ADVICE_FIXES, ADVICE_IDS, type Advice, type AdviceId } from '../model/report.ts';
import { jsonObject } from '../parse/json/json.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import type { ChallengedResource, Offer } from '../parse/x402/challenge.ts';
import { isTestnet } from '../parse/x402/networks.ts';
import { findOtherWays } from '../parse/x402/other-ways.ts';
import { settlesUpfront, transferMethod } from '../parse/x402/schemes.ts';
import { browserAdvice } from './browser-advice.ts';
import { chainAdvice } from './chain-advice.ts';
import { signInsElsewhere } from './sign-in-elsewhere.ts';
import { differingOffers } from './signed-offers.ts';

export type Advised = Pick<Observations, 'origin' | 'resources' | 'browser' | 'chain'>;

const MAX_SHOWN = 3;
const MINIMUM_PARTS = 1_000n;
const SPONSORS = ['eip2612GasSponsoring', 'erc20ApprovalGasSponsoring'];

type Found = readonly [id: AdviceId, text: string];

/** Ungraded parts of a report. */
export type Remarks = {
  readonly advice: readonly Advice[];
  readonly otherWays: readonly OtherWay[];
};

export function remark(seen: Advised, kit: Kit): Remarks {
  const ways = findOtherWays(seen.resources.probed);
  return { advice: advise(seen, kit), otherWays: ways.map(({ resource: _, ...way }) => way) };
}

/** In ADVICE_IDS order, each at most once. */
export function advise(
  { origin, resources, browser, chain }: Advised,
  kit: Kit = createKit(),
): readonly Advice[] {
  const challenged = kit.challenged(resources);
  const found: Found[] = challenged.flatMap((one) => {
    const request = kit.request(one.probe.method, one.resource.path);
    return adviseOn(one, origin.hostname, kit).map(
      ([id, text]): Found => [id, `${request} ${text}`],
    );
  });
  found.push(...signInAdvice(resources, origin.hostname, kit));
  found.push(...testnets(challenged, kit));
  if (resources.otherMethods > 0) {
    found.push([
      'methods-unseen',
      `${resources.otherMethods} paid operations by PUT, PATCH or DELETE`,
    ]);
  }
  if (chain !== undefined) found.push(...chainAdvice(chain, kit));
  if (browser !== undefined) found.push(...browserAdvice(browser, kit));
  return ADVICE_IDS.flatMap((id): readonly Advice[] => {
    const texts = found.filter(([one]) => one === id).map(([, text]) => text);
    if (texts.length === 0) return [];
    const rest = texts.length - MAX_SHOWN;
    const evidence = texts.slice(0, MAX_SHOWN).join('; ') + (rest > 0 ? `; ${rest} more` : '');
    return [{ id, evidence, fix: ADVICE_FIXES[id] }];
  });
}

function adviseOn({ reading }: ChallengedResource, hostname: string, kit: Kit): readonly Found[] {
  const { challenge } = reading;
  const extensions = jsonObject(challenge.value['extensions']);
  const offers = kit.judgedOffers(challenge);
  const found: Found[] = [];
  for (const offer of offers) {
    if (settlesUpfront(offer.extra)) {
      found.push([
        'pays-before-delivery',
        `${offer.pointer}/extra/paymentFlow: "upfront", and no refund is known`,
      ]);
    }
    const text = `${offer.pointer}/amount: ${kit.show(offer.amount)}`;
    const parts = partsOfDollar(offer, kit);
    if (parts === null) continue;
    if (parts.amount > parts.dollar) found.push(['over-default-limit', text]);
    if (parts.amount * MINIMUM_PARTS < parts.dollar)
      found.push(['under-facilitator-minimum', text]);
  }
  const isSponsored = SPONSORS.some((name) => extensions[name] !== undefined);
  const [first] = offers;
  if (first !== undefined && !isSponsored && offers.every((offer) => needsAllowance(offer, kit))) {
    found.push(['needs-allowance', `${first.pointer} is paid by Permit2, and nobody sponsors it`]);
  }
  for (const text of differingOffers(extensions, challenge, kit)) {
    found.push(['signed-offer-differs', text]);
  }
  for (const text of signInsElsewhere(extensions, hostname, kit)) {
    found.push(['sign-in-elsewhere', text]);
  }
  const identifier = jsonObject(jsonObject(extensions['payment-identifier'])['info']);
  if (identifier['required'] === true) {
    found.push(['identifier-required', '/extensions/payment-identifier/info/required: true']);
  }
  return found;
}

/** Sign-ins sell nothing and are no resources, so they are examined apart. */
function signInAdvice(resources: ResourceSet, hostname: string, kit: Kit): readonly Found[] {
  return kit.signIns(resources).flatMap(({ path, probes }) => {
    const first = probes.filter(({ method, number }) => method !== 'HEAD' && number === 1);
    const texts = first.flatMap(({ method, answer }) => {
      const challenge = answer.ok ? kit.challenge(answer.data).challenge : null;
      const extensions = jsonObject(challenge?.value['extensions']);
      return signInsElsewhere(extensions, hostname, kit).map(
        (text) => `${kit.request(method, path)} ${text}`,
      );
    });
    return texts.map((text): Found => ['sign-in-elsewhere', text]);
  });
}

function testnets(challenged: readonly ChallengedResource[], kit: Kit): readonly Found[] {
  const offers = challenged.flatMap(({ reading }) => reading.challenge.offers);
  const isTest = ({ network }: Offer) => typeof network === 'string' && isTestnet(network);
  if (offers.length === 0 || !offers.every(isTest)) return [];
  const names = [...new Set(offers.map(({ network }) => kit.show(network)))];
  return [
    ['testnet-only', `all ${offers.length} offers are on ${names.slice(0, MAX_SHOWN).join(', ')}`],
  ];
}

/** Every asset in the catalog is worth a dollar. */
function partsOfDollar({ network, asset, amount }: Offer, kit: Kit) {
  if (typeof network !== 'string' || typeof asset !== 'string') return null;
  const known = kit.asset(network, asset);
  if (known === null || typeof amount !== 'string' || !/^[1-9][0-9]{0,77}$/.test(amount))
    return null;
  return { amount: BigInt(amount), dollar: 10n ** BigInt(known.decimals) };
}

/** Permit2 needs an allowance by the token's owner, which most wallets have never given. */
function needsAllowance(offer: Offer, kit: Kit): boolean {
  const row = kit.scheme(offer);
  if (row === null || row.namespace !== 'eip155') return false;
  return row.scheme === 'upto' || transferMethod(row, offer.extra) === 'permit2';
}
