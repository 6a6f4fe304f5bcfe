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
import { formatInDollars, isUnderMinimum, toDollarUnits } from '../parse/x402/amount.ts';
import {
  AMOUNT_MEMBERS,
  type Challenge,
  type ChallengedResource,
  type Offer,
} from '../parse/x402/challenge.ts';
import { isTestnet } from '../parse/x402/networks.ts';
import { findOtherWays } from '../parse/x402/other-ways.ts';
import { listFirstProbes } from '../parse/x402/resource-answers.ts';
import { findTransferMethod, isSettledUpfront } from '../parse/x402/schemes.ts';
import { findDifferingOffers, findForeignSignIns } from './extension-advice.ts';

export type AdviceObservations = Pick<Observations, 'origin' | 'resources' | 'browser' | 'chain'>;

const MAX_SHOWN_NETWORKS = 3;
const CHALLENGE_HEADER = 'payment-required';
/** A challenge with one of these extensions offers to pay the gas of the allowance. */
const SPONSOR_EXTENSIONS = ['eip2612GasSponsoring', 'erc20ApprovalGasSponsoring'];

type AdviceRow = readonly [id: AdviceId, text: string];

/** The parts of a report that no check grades. */
export type Remarks = {
  readonly advice: readonly Advice[];
  readonly otherWays: readonly OtherWay[];
};

export function remark(observations: AdviceObservations, kit: Kit): Remarks {
  const ways = findOtherWays(observations.resources.probed);
  const otherWays = ways.map(({ resource: _, ...way }) => way);
  return { advice: advise(observations, kit), otherWays };
}

/** Returns each advice at most once, in the order of ADVICE_IDS. */
export function advise(
  { origin, resources, browser, chain }: AdviceObservations,
  kit: Kit = createKit(),
): readonly Advice[] {
  const challenged = kit.challenged(resources);
  const rows: AdviceRow[] = challenged.flatMap(({ probe, resource, reading }) => {
    const request = kit.request(probe.method, resource.path);
    const challengeRows = adviseOnChallenge(reading.challenge, origin.hostname, kit);
    return challengeRows.map(([id, text]): AdviceRow => [id, `${request} ${text}`]);
  });
  rows.push(...adviseOnSignIns(resources, origin.hostname, kit));
  rows.push(...adviseOnTestnets(challenged, kit));
  if (resources.otherMethods > 0) {
    const text = `${resources.otherMethods} paid operations by PUT, PATCH or DELETE`;
    rows.push(['methods-unseen', text]);
  }
  if (chain !== undefined) rows.push(...adviseOnChain(chain, kit));
  if (browser !== undefined) rows.push(...adviseOnBrowsers(browser, kit));
  return ADVICE_IDS.flatMap((id): readonly Advice[] => {
    const texts = rows.filter(([rowId]) => rowId === id).map(([, text]) => text);
    return texts.length === 0 ? [] : [{ id, evidence: listed(texts), fix: ADVICE_FIXES[id] }];
  });
}

function adviseOnChallenge(challenge: Challenge, hostname: string, kit: Kit): readonly AdviceRow[] {
  const extensions = jsonObject(challenge.value['extensions']);
  const offers = kit.judgedOffers(challenge);
  const rows: AdviceRow[] = [];
  for (const offer of offers) {
    if (isSettledUpfront(offer.extra)) {
      const upfront = `${offer.pointer}/extra/paymentFlow: "upfront", and no refund is known`;
      rows.push(['pays-before-delivery', upfront]);
    }
    const member = AMOUNT_MEMBERS[challenge.version];
    const text = `${offer.pointer}/${member}: ${kit.show(offer.amount)} asks ${formatInDollars(offer)}`;
    const units = toDollarUnits(offer);
    if (units !== null && units.amount > units.dollar) rows.push(['over-default-limit', text]);
    if (isUnderMinimum(offer)) rows.push(['under-facilitator-minimum', text]);
  }
  const isSponsored = SPONSOR_EXTENSIONS.some((name) => extensions[name] !== undefined);
  const [first] = offers;
  if (first !== undefined && !isSponsored && offers.every((offer) => needsAllowance(offer, kit))) {
    const text = `${first.pointer} is paid by Permit2, and nobody sponsors it`;
    rows.push(['needs-allowance', text]);
  }
  const differingOffers = findDifferingOffers(extensions, challenge, kit);
  rows.push(...differingOffers.map((text): AdviceRow => ['signed-offer-differs', text]));
  const foreignSignIns = findForeignSignIns(extensions, hostname, kit);
  rows.push(...foreignSignIns.map((text): AdviceRow => ['sign-in-elsewhere', text]));
  const identifier = jsonObject(jsonObject(extensions['payment-identifier'])['info']);
  if (identifier['required'] === true) {
    rows.push(['identifier-required', '/extensions/payment-identifier/info/required: true']);
  }
  return rows;
}

/** A sign-in sells nothing, so the challenged resources do not contain it. */
function adviseOnSignIns(resources: ResourceSet, hostname: string, kit: Kit): readonly AdviceRow[] {
  return kit.signIns(resources).flatMap((resource) =>
    listFirstProbes(resource).flatMap(({ method, answer }) => {
      const challenge = answer.ok ? kit.challenge(answer.data).challenge : null;
      const extensions = jsonObject(challenge?.value['extensions']);
      const request = kit.request(method, resource.path);
      return findForeignSignIns(extensions, hostname, kit).map(
        (text): AdviceRow => ['sign-in-elsewhere', `${request} ${text}`],
      );
    }),
  );
}

function adviseOnTestnets(
  challenged: readonly ChallengedResource[],
  kit: Kit,
): readonly AdviceRow[] {
  const offers = challenged.flatMap(({ reading }) => reading.challenge.offers);
  if (offers.length === 0 || !offers.every(({ network }) => isTestnet(network))) return [];
  const names = [...new Set(offers.map(({ network }) => kit.show(network)))];
  const shownNames = names.slice(0, MAX_SHOWN_NETWORKS).join(', ');
  return [['testnet-only', `${offers.length} of ${offers.length} offers are on ${shownNames}`]];
}

/** True for payments by Permit2. Most wallets have never given the allowance that Permit2 needs. */
function needsAllowance(offer: Offer, kit: Kit): boolean {
  const row = kit.scheme(offer);
  if (row === null || row.namespace !== 'eip155') return false;
  return row.scheme === 'upto' || findTransferMethod(row, offer) === 'permit2';
}

function adviseOnChain(offers: readonly OfferOnChain[], kit: Kit): readonly AdviceRow[] {
  return offers.flatMap(({ network, asset, payTo, ...facts }): readonly AdviceRow[] => {
    const token = `${kit.quote(asset)} on ${kit.quote(network)}`;
    if (!facts.hasCode) return [['asset-without-code', `${token} has no code`]];
    const rows: AdviceRow[] = [];
    if (facts.domain?.agrees === false) {
      const { named } = facts.domain;
      const actual =
        named === null ? '' : `; it names ${kit.quote(named.name)}, ${kit.quote(named.version)}`;
      const text = `DOMAIN_SEPARATOR() of ${token} is not that of extra.name and extra.version`;
      rows.push(['domain-differs', text + actual]);
    }
    if (facts.transferReverts === true) {
      rows.push(['transfer-reverts', `transfers of ${token} to ${kit.quote(payTo)} revert`]);
    }
    if (facts.noTokenAccount === true) {
      rows.push(['no-token-account', `${kit.quote(payTo)} has no account of ${token}`]);
    }
    return rows;
  });
}

/** Judges what browsers get: `fetched` by a script of another site, and `opened` as a page. */
function adviseOnBrowsers(
  { path, fetched, opened }: BrowserAnswers,
  kit: Kit,
): readonly AdviceRow[] {
  const request = kit.request('GET', path);
  const rows: AdviceRow[] = [];
  if (fetched.ok && fetched.data.status === 402) {
    const hidingFault = findHidingFault(fetched.data, kit);
    if (hidingFault !== null) rows.push(['hidden-from-browsers', `${request}: ${hidingFault}`]);
  }
  if (!fetched.ok || !opened.ok || kit.header(fetched.data, CHALLENGE_HEADER) === null) return rows;
  const paywallFault = findPaywallFault(opened.data, kit);
  if (paywallFault !== null) {
    rows.push(['paywall-without-challenge', `${request} opened in a browser: ${paywallFault}`]);
  }
  const answers = [fetched.data, opened.data];
  const [toScript, toPage] = answers.map((data) => describeAnswer(data, kit));
  const isSafe =
    answers.every((data) => isNeverStored(data, kit)) ||
    answers.every((data) => hasVaryAccept(data, kit));
  if (toScript !== toPage && !isSafe) {
    const text = `${toScript} to a script, ${toPage} to a browser, without Vary: Accept on both`;
    rows.push(['varies-unsaid', `${request}: ${text}`]);
  }
  return rows;
}

/** Finds why a script of another site cannot read the challenge (Fetch, 4.10 and 3.3.3); null if the script can. */
function findHidingFault(data: HttpData, kit: Kit): string | null {
  const allowedOrigins = kit.headers(data, 'access-control-allow-origin');
  if (allowedOrigins.length === 0) return '402 without Access-Control-Allow-Origin';
  // Browsers join repeated headers. The joined value is neither `*` nor an origin.
  const value = allowedOrigins.join(', ');
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

function describeAnswer(data: HttpData, kit: Kit): string {
  const type = (kit.header(data, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const challenge = kit.header(data, CHALLENGE_HEADER) === null ? 'no challenge' : 'a challenge';
  return `${data.status} ${type ? kit.quote(type) : 'of no type'} with ${challenge}`;
}

/** True for `no-store`: then no cache gives this answer to another caller. */
function isNeverStored(data: HttpData, kit: Kit): boolean {
  return readList(data, 'cache-control', kit).includes('no-store');
}

function hasVaryAccept(data: HttpData, kit: Kit): boolean {
  const names = readList(data, 'vary', kit);
  return names.includes('*') || names.includes('accept');
}

function readList(data: HttpData, name: string, kit: Kit): readonly string[] {
  const values = kit.headers(data, name).flatMap((value) => value.split(','));
  return values.map((value) => value.trim().toLowerCase());
}
