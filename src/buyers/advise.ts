/** Finds advice: facts that a seller should know and that no check grades. Runs on a worker. */

import { listed } from '../engine/findings.ts';
import { BROWSER_ORIGIN, type HttpData } from '../model/observation.ts';
import type {
  BrowserAnswers,
  Observations,
  OfferOnChain,
  ResourceSet,
} from '../model/observations.ts';
import type { OtherWay } from '../model/payability.ts';
import { ADVICE_FIXES, ADVICE_IDS, type Advice, type AdviceId } from '../model/report.ts';
import { jsonObject } from '../parse/json/json.ts';
import { createKit, type Kit } from '../parse/kit/kit.ts';
import { isUnderMinimum, toDollarUnits } from '../parse/x402/amount.ts';
import type { ChallengedResource, Offer } from '../parse/x402/challenge.ts';
import { isTestnet } from '../parse/x402/networks.ts';
import { findOtherWays } from '../parse/x402/other-ways.ts';
import { findTransferMethod, isSettledUpfront } from '../parse/x402/schemes.ts';
import { differingOffers, signInsElsewhere } from './extension-advice.ts';

export type AdviceObservations = Pick<Observations, 'origin' | 'resources' | 'browser' | 'chain'>;

const MAX_SHOWN_NETWORKS = 3;
const SPONSOR_EXTENSIONS = ['eip2612GasSponsoring', 'erc20ApprovalGasSponsoring'];

type AdviceEntry = readonly [id: AdviceId, text: string];

/** Ungraded parts of a report. */
export type Remarks = {
  readonly advice: readonly Advice[];
  readonly otherWays: readonly OtherWay[];
};

export function remark(seen: AdviceObservations, kit: Kit): Remarks {
  const ways = findOtherWays(seen.resources.probed);
  return { advice: advise(seen, kit), otherWays: ways.map(({ resource: _, ...way }) => way) };
}

/** Returns each advice at most once, in the order of ADVICE_IDS. */
export function advise(
  { origin, resources, browser, chain }: AdviceObservations,
  kit: Kit = createKit(),
): readonly Advice[] {
  const challenged = kit.challenged(resources);
  const entries: AdviceEntry[] = challenged.flatMap((one) => {
    const request = kit.request(one.probe.method, one.resource.path);
    return adviseOn(one, origin.hostname, kit).map(
      ([id, text]): AdviceEntry => [id, `${request} ${text}`],
    );
  });
  entries.push(...adviseOnSignIns(resources, origin.hostname, kit));
  entries.push(...adviseOnTestnets(challenged, kit));
  if (resources.otherMethods > 0) {
    entries.push([
      'methods-unseen',
      `${resources.otherMethods} paid operations by PUT, PATCH or DELETE`,
    ]);
  }
  if (chain !== undefined) entries.push(...adviseOnChain(chain, kit));
  if (browser !== undefined) entries.push(...adviseOnBrowsers(browser, kit));
  return ADVICE_IDS.flatMap((id): readonly Advice[] => {
    const texts = entries.filter(([entryId]) => entryId === id).map(([, text]) => text);
    if (texts.length === 0) return [];
    return [{ id, evidence: listed(texts), fix: ADVICE_FIXES[id] }];
  });
}

function adviseOn(
  { reading }: ChallengedResource,
  hostname: string,
  kit: Kit,
): readonly AdviceEntry[] {
  const { challenge } = reading;
  const extensions = jsonObject(challenge.value['extensions']);
  const offers = kit.judgedOffers(challenge);
  const entries: AdviceEntry[] = [];
  for (const offer of offers) {
    if (isSettledUpfront(offer.extra)) {
      entries.push([
        'pays-before-delivery',
        `${offer.pointer}/extra/paymentFlow: "upfront", and no refund is known`,
      ]);
    }
    const text = `${offer.pointer}/amount: ${kit.show(offer.amount)}`;
    const parts = toDollarUnits(offer);
    if (parts !== null && parts.amount > parts.dollar) entries.push(['over-default-limit', text]);
    if (isUnderMinimum(offer)) entries.push(['under-facilitator-minimum', text]);
  }
  const isSponsored = SPONSOR_EXTENSIONS.some((name) => extensions[name] !== undefined);
  const [first] = offers;
  if (first !== undefined && !isSponsored && offers.every((offer) => needsAllowance(offer, kit))) {
    entries.push([
      'needs-allowance',
      `${first.pointer} is paid by Permit2, and nobody sponsors it`,
    ]);
  }
  for (const text of differingOffers(extensions, challenge, kit)) {
    entries.push(['signed-offer-differs', text]);
  }
  for (const text of signInsElsewhere(extensions, hostname, kit)) {
    entries.push(['sign-in-elsewhere', text]);
  }
  const identifier = jsonObject(jsonObject(extensions['payment-identifier'])['info']);
  if (identifier['required'] === true) {
    entries.push(['identifier-required', '/extensions/payment-identifier/info/required: true']);
  }
  return entries;
}

/** Sign-ins sell nothing, so they are not among the challenged resources. */
function adviseOnSignIns(
  resources: ResourceSet,
  hostname: string,
  kit: Kit,
): readonly AdviceEntry[] {
  return kit.signIns(resources).flatMap(({ path, probes }) => {
    const first = probes.filter(({ method, number }) => method !== 'HEAD' && number === 1);
    const texts = first.flatMap(({ method, answer }) => {
      const challenge = answer.ok ? kit.challenge(answer.data).challenge : null;
      const extensions = jsonObject(challenge?.value['extensions']);
      return signInsElsewhere(extensions, hostname, kit).map(
        (text) => `${kit.request(method, path)} ${text}`,
      );
    });
    return texts.map((text): AdviceEntry => ['sign-in-elsewhere', text]);
  });
}

function adviseOnTestnets(
  challenged: readonly ChallengedResource[],
  kit: Kit,
): readonly AdviceEntry[] {
  const offers = challenged.flatMap(({ reading }) => reading.challenge.offers);
  const isTest = ({ network }: Offer) => typeof network === 'string' && isTestnet(network);
  if (offers.length === 0 || !offers.every(isTest)) return [];
  const names = [...new Set(offers.map(({ network }) => kit.show(network)))];
  return [
    [
      'testnet-only',
      `all ${offers.length} offers are on ${names.slice(0, MAX_SHOWN_NETWORKS).join(', ')}`,
    ],
  ];
}

/** True for payments by Permit2. They need an allowance by the token's owner, which most wallets have never given. */
function needsAllowance(offer: Offer, kit: Kit): boolean {
  const row = kit.scheme(offer);
  if (row === null || row.namespace !== 'eip155') return false;
  return row.scheme === 'upto' || findTransferMethod(row, offer.extra) === 'permit2';
}

function adviseOnChain(offers: readonly OfferOnChain[], kit: Kit): readonly AdviceEntry[] {
  return offers.flatMap(({ network, asset, payTo, ...seen }): readonly AdviceEntry[] => {
    const place = `${kit.quote(asset)} on ${kit.quote(network)}`;
    if (!seen.hasCode) return [['asset-without-code', `${place} has no code`]];
    const entries: AdviceEntry[] = [];
    if (seen.domain?.agrees === false) {
      const { named } = seen.domain;
      const right =
        named === null ? '' : `; it names ${kit.quote(named.name)}, ${kit.quote(named.version)}`;
      const text = `DOMAIN_SEPARATOR() of ${place} is not that of extra.name and extra.version`;
      entries.push(['domain-differs', text + right]);
    }
    if (seen.transferReverts === true) {
      entries.push(['transfer-reverts', `transfers of ${place} to ${kit.quote(payTo)} revert`]);
    }
    if (seen.noTokenAccount === true) {
      entries.push(['no-token-account', `${kit.quote(payTo)} has no account of ${place}`]);
    }
    return entries;
  });
}

const CHALLENGE_HEADER = 'payment-required';

/** Judges the challenge as browsers see it: read by a script of another site, and opened as a page. */
function adviseOnBrowsers(
  { path, fetched, opened }: BrowserAnswers,
  kit: Kit,
): readonly AdviceEntry[] {
  const request = kit.request('GET', path);
  const entries: AdviceEntry[] = [];
  if (fetched.ok && fetched.data.status === 402) {
    const hidden = findHidingFault(fetched.data, kit);
    if (hidden !== null) entries.push(['hidden-from-browsers', `${request}: ${hidden}`]);
  }
  if (!fetched.ok || !opened.ok || kit.header(fetched.data, CHALLENGE_HEADER) === null)
    return entries;
  const paywall = findPaywallFault(opened.data, kit);
  if (paywall !== null) {
    entries.push(['paywall-without-challenge', `${request} opened in a browser: ${paywall}`]);
  }
  const [one, other] = [findKind(fetched.data, kit), findKind(opened.data, kit)];
  if (one !== other && ![fetched.data, opened.data].every((data) => variesByAccept(data, kit))) {
    entries.push([
      'varies-unsaid',
      `${request}: ${one} to a script, ${other} to a browser, without Vary: Accept on both`,
    ]);
  }
  return entries;
}

/** Finds why a script of another site cannot read the challenge (Fetch, 4.10 and 3.3.3); null if it can. */
function findHidingFault(data: HttpData, kit: Kit): string | null {
  const allowed = kit.headers(data, 'access-control-allow-origin');
  if (allowed.length === 0) return '402 without Access-Control-Allow-Origin';
  // Browsers join repeated headers. The joined value is neither `*` nor an origin.
  const value = allowed.join(', ');
  if (value !== '*' && value !== BROWSER_ORIGIN) {
    return `Access-Control-Allow-Origin: ${kit.quote(value)} lets no other site read it`;
  }
  if (kit.header(data, CHALLENGE_HEADER) === null) return null;
  const exposed = readList(data, 'access-control-expose-headers', kit);
  if (exposed.includes('*') || exposed.includes(CHALLENGE_HEADER)) return null;
  return 'Access-Control-Expose-Headers does not name PAYMENT-REQUIRED';
}

/** Finds why a paywall gives browsers no challenge. The page of a firewall or an error is not a paywall. */
function findPaywallFault(data: HttpData, kit: Kit): string | null {
  if (data.status === 402) {
    return kit.header(data, CHALLENGE_HEADER) === null ? '402 without PAYMENT-REQUIRED' : null;
  }
  const isPage = /html/i.test(kit.header(data, 'content-type') ?? '');
  return data.status < 400 && isPage ? `${data.status} with a page, not 402` : null;
}

function findKind(data: HttpData, kit: Kit): string {
  const type = (kit.header(data, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const challenge = kit.header(data, CHALLENGE_HEADER) === null ? 'no challenge' : 'a challenge';
  return `${data.status} ${type ? kit.quote(type) : 'of no type'} with ${challenge}`;
}

function variesByAccept(data: HttpData, kit: Kit): boolean {
  const names = readList(data, 'vary', kit);
  return names.includes('*') || names.includes('accept');
}

function readList(data: HttpData, name: string, kit: Kit): readonly string[] {
  const values = kit.headers(data, name).flatMap((value) => value.split(','));
  return values.map((value) => value.trim().toLowerCase());
}
