/**
 * Lists what a scan asks indexes, chains and clients about, and reads the ungraded parts of a report: branding, advice
 * to the seller, routes. Pure; runs on a worker.
 */
import { type Remarks, remark } from '../clients/advise.ts';
import { type ListedChallenges, listChallenges } from '../clients/list-challenges.ts';
import type { HttpObservation, Observations } from '../model/observations.ts';
import {
  type Branding,
  CATEGORIES,
  type DirectoryCategory,
  OTHER_CATEGORY,
  type RouteFacts,
} from '../model/report.ts';
import type { ChainOffer, Payee } from '../model/standing.ts';
import { type JsonObject, jsonObject, jsonText } from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import type { Offer } from '../parse/x402/challenge.ts';
import { isImage } from '../probe/second-wave.ts';
import { findRoutes } from './find-routes.ts';

export type DescribedChallenges = {
  /** Recipients that indexes and chains are asked about. */
  readonly payees: readonly Payee[];
  /** Offers that chain nodes are asked about. */
  readonly chainOffers: readonly ChainOffer[];
  /** Challenges that the official clients try. */
  readonly listed: ListedChallenges;
};

export function describeChallenges(
  { resources }: Pick<Observations, 'resources'>,
  kit: Kit,
): DescribedChallenges {
  const offers = kit.challenged(resources).flatMap(({ reading }) => reading.challenge.offers);
  return {
    payees: findPayees(offers, kit),
    chainOffers: findChainOffers(offers, kit),
    listed: listChallenges(resources, kit),
  };
}

const MAX_PAYEES = 3;

function findPayees(offers: readonly Offer[], kit: Kit): readonly Payee[] {
  const payees = new Map<string, Payee>();
  for (const { network, payTo } of offers) {
    if (typeof network !== 'string' || typeof payTo !== 'string') continue;
    if (kit.address(network, payTo) !== 'ok') continue;
    payees.set(`${network} ${payTo.toLowerCase()}`, { network, address: payTo });
  }
  return [...payees.values()].slice(0, MAX_PAYEES);
}

const MAX_OFFERS = 6;
const MAX_TEXT_CHARS = 200;

/** Equal offers of several resources count once. */
function findChainOffers(offers: readonly Offer[], kit: Kit): readonly ChainOffer[] {
  const chainOffers = new Map<string, ChainOffer>();
  for (const { network, asset, payTo, extra } of offers) {
    if (typeof network !== 'string' || typeof asset !== 'string') continue;
    if (typeof payTo !== 'string' || chainOffers.size >= MAX_OFFERS) continue;
    if (kit.address(network, asset) !== 'ok' || kit.address(network, payTo) !== 'ok') continue;
    const eip712Domain = jsonObject(extra);
    const chainOffer = {
      network: kit.caip2(network),
      asset,
      payTo,
      name: jsonText(eip712Domain['name'])?.slice(0, MAX_TEXT_CHARS) ?? null,
      version: jsonText(eip712Domain['version'])?.slice(0, MAX_TEXT_CHARS) ?? null,
      isKnown: kit.asset(network, asset) !== null,
    };
    chainOffers.set(JSON.stringify(chainOffer), chainOffer);
  }
  return [...chainOffers.values()];
}

const MAX_NAME_CHARS = 80;
const MAX_DESCRIPTION_CHARS = 500;
const MAX_ICON_URL_CHARS = 2_048;

/** The answers of the origin itself, without those of indexes. */
type OwnObservations = Omit<Observations, 'x402scan' | 'settlements' | 'listing' | 'bazaar'>;

export type OriginDescription = Remarks & {
  readonly branding: Branding;
  /** Null if the routes could not be read within limits. */
  readonly routes: RouteFacts | null;
};

export function describeOrigin(sources: OwnObservations, kit: Kit): OriginDescription {
  return {
    branding: extractBranding(sources, kit),
    ...remark(sources, kit),
    routes: findRoutes(sources, kit),
  };
}

/** Reads name, description, category and icons. Texts are cleaned and cut. Nothing is verified. */
function extractBranding(sources: OwnObservations, kit: Kit): Branding {
  const page = isPage(sources.root, kit) ? kit.html(sources.root.data.body) : null;
  const card = readJsonObject('/.well-known/agent-card.json', sources.agentCard, sources, kit);
  const manifest = readJsonObject('/.well-known/x402', sources.manifest, sources, kit);
  const openapi = kit.openapi(sources);
  const info =
    openapi.state === 'found' ? jsonObject(jsonObject(openapi.facts.document)['info']) : {};
  return {
    displayName: findText(MAX_NAME_CHARS, [
      card['name'],
      info['title'],
      page?.meta.get('og:site_name'),
      page?.title,
      sources.origin.host,
    ]),
    description: findText(MAX_DESCRIPTION_CHARS, [
      card['description'],
      info['description'],
      page?.meta.get('description'),
      page?.meta.get('og:description'),
    ]),
    category: findCategory([
      manifest['category'],
      card['category'],
      info['x-category'],
      info['category'],
    ]),
    iconUrl: findIcon(sources),
    ogImageUrl: toHttpsUrl(page?.meta.get('og:image'), sources.origin.url),
  };
}

/** False for an error page, because its text is not the origin's name. */
function isPage(root: HttpObservation, kit: Kit): root is HttpObservation & { readonly ok: true } {
  return root.ok && root.data.status >= 200 && root.data.status < 300 && kit.isHtml(root);
}

function readJsonObject(
  path: string,
  answer: Observations['agentCard'],
  { soft404 }: OwnObservations,
  kit: Kit,
): JsonObject {
  const reading = kit.document(path, answer, soft404);
  if (reading.state !== 'present') return {};
  const json = kit.json(reading.body);
  return json.ok ? jsonObject(json.value) : {};
}

function findText(maxChars: number, candidates: readonly unknown[]): string {
  for (const candidate of candidates) {
    const text = typeof candidate === 'string' ? cleanText(candidate, maxChars).trim() : '';
    if (text !== '') return text;
  }
  return '';
}

function findCategory(candidates: readonly unknown[]): DirectoryCategory {
  const declared = candidates.find((candidate) => typeof candidate === 'string');
  return CATEGORIES.find((category) => category === declared) ?? OTHER_CATEGORY;
}

/** Takes the first icon that is an image. Icons on other hosts are never requested. */
function findIcon({ icons, origin }: OwnObservations): string | null {
  const icon = icons.checked.find(({ answer }) => isImage(answer));
  return icon === undefined ? null : toHttpsUrl(icon.path, origin.url);
}

/** Returns an absolute `https:` URL. Returns null for every other scheme, and for a URL with credentials. */
function toHttpsUrl(reference: string | undefined, base: string): string | null {
  const url = reference ? URL.parse(reference, base) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  return url.href.length <= MAX_ICON_URL_CHARS ? url.href : null;
}
