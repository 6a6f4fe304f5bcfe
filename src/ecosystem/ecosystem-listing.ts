/**
 * Reads the protocol's public listing of partners: records `{name, websiteUrl, …}`, as JSON or inside an
 * HTML page. It takes no new partners since 2026-05-14.
 */
import { type Answer, askText, failed, INDEX_ANSWER_BYTES, type RequestContext } from './ask.ts';

export type Partner = { readonly name: string | null; readonly website: string };

const LISTING_PATH = '/ecosystem';
const MAX_PARTNERS = 5_000;
const MAX_URL_CHARS = 2_048;
const MAX_NAME_CHARS = 200;
/** Matches the member in JSON, or in JSON that a script of the page has escaped. */
const WEBSITE = /\\?"websiteUrl\\?"\s*:\s*\\?"(https?:[^"\\\s]{1,2000})/g;

export async function askPartners(
  base: string,
  context: RequestContext,
): Promise<Answer<readonly Partner[]>> {
  const url = new URL(base).pathname === '/' ? new URL(LISTING_PATH, base).href : base;
  const page = await askText(url, { ...context, capBytes: INDEX_ANSWER_BYTES });
  if (!page.ok) return page;
  const partners = partnersIn(page.value);
  // A listing without partners means that the page's format changed.
  if (partners.length === 0) return failed(`${new URL(base).host} shows no partner records`);
  return { ok: true, value: partners.slice(0, MAX_PARTNERS) };
}

function partnersIn(text: string): readonly Partner[] {
  const value = parsed(text);
  if (value !== undefined) return listsIn(value).flatMap(toPartners);
  return [...text.matchAll(WEBSITE)].flatMap(([, website]) =>
    website === undefined ? [] : [{ name: null, website }],
  );
}

/** Returns the listing, or the lists inside an object. */
function listsIn(value: unknown): readonly (readonly unknown[])[] {
  if (Array.isArray(value)) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).filter((member) => Array.isArray(member));
}

function toPartners(list: readonly unknown[]): readonly Partner[] {
  return list.flatMap((record) => {
    if (typeof record !== 'object' || record === null) return [];
    const website: unknown = Reflect.get(record, 'websiteUrl');
    const name: unknown = Reflect.get(record, 'name');
    if (typeof website !== 'string' || website.length > MAX_URL_CHARS) return [];
    return [{ name: typeof name === 'string' ? name.slice(0, MAX_NAME_CHARS) : null, website }];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
