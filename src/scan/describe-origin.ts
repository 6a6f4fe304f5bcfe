/** Reads the ungraded parts of a report: branding, advice to the seller, routes. Pure; runs on a worker. */

import { type AdviceObservations, type Remarks, remark } from '../buyers/advise.ts';
import type { HttpObservation, Observations } from '../model/observations.ts';
import {
  type Branding,
  CATEGORIES,
  type DirectoryCategory,
  OTHER_CATEGORY,
  type RouteFacts,
} from '../model/report.ts';
import { type JsonObject, jsonObject } from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { cleanText } from '../parse/text/text.ts';
import { isImage } from '../probe/second-wave.ts';
import { findRoutes, type RouteSources } from './find-routes.ts';

const MAX_NAME_CHARS = 80;
const MAX_DESCRIPTION_CHARS = 500;
const MAX_ICON_URL_CHARS = 2_048;

type BrandingSources = Pick<
  Observations,
  | 'origin'
  | 'root'
  | 'soft404'
  | 'openapi'
  | 'openapiAlternates'
  | 'manifest'
  | 'manifestJson'
  | 'agentCard'
  | 'icons'
>;

export type OriginDescription = Remarks & {
  readonly branding: Branding;
  /** Null if they could not be read within limits. */
  readonly routes: RouteFacts | null;
};

export function describeOrigin(
  seen: BrandingSources & RouteSources & AdviceObservations,
  kit: Kit,
): OriginDescription {
  return {
    branding: extractBranding(seen, kit),
    ...remark(seen, kit),
    routes: findRoutes(seen, kit),
  };
}

/** Reads name, description, category and icons. They are unverified, cleaned and cut. */
export function extractBranding(seen: BrandingSources, kit: Kit): Branding {
  const page = isPage(seen.root, kit) ? kit.html(seen.root.data.body) : null;
  const card = readJsonObject('/.well-known/agent-card.json', seen.agentCard, seen, kit);
  const manifest = readJsonObject('/.well-known/x402', seen.manifest, seen, kit);
  const openapi = kit.openapi(seen);
  const info =
    openapi.state === 'found' ? jsonObject(jsonObject(openapi.facts.document)['info']) : {};
  return {
    displayName: findText(MAX_NAME_CHARS, [
      card['name'],
      info['title'],
      page?.meta.get('og:site_name'),
      page?.title,
      seen.origin.host,
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
    iconUrl: findIcon(seen),
    ogImageUrl: toHttpsUrl(page?.meta.get('og:image') ?? null, seen.origin.url),
  };
}

/** False for an error page, because its text is not the origin's name. */
function isPage(root: HttpObservation, kit: Kit): root is HttpObservation & { readonly ok: true } {
  return root.ok && root.data.status >= 200 && root.data.status < 300 && kit.isHtml(root);
}

function readJsonObject(
  path: string,
  answer: Observations['agentCard'],
  { soft404 }: BrandingSources,
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
function findIcon({ icons, origin }: BrandingSources): string | null {
  const icon = icons.checked.find(({ answer }) => answer.ok && isImage(answer));
  return icon === undefined ? null : toHttpsUrl(icon.path, origin.url);
}

/** Returns null for `javascript:`, `data:` and http. */
function toHttpsUrl(reference: string | null | undefined, base: string): string | null {
  if (!reference || !URL.canParse(reference, base)) return null;
  const url = new URL(reference, base);
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  return url.href.length <= MAX_ICON_URL_CHARS ? url.href : null;
}
