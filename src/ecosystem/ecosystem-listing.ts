/**
 * The protocol's public listing of partners: records `{name, websiteUrl, …}`, as JSON or inside the
 * page that shows them. It closed to newcomers on 2026-05-14.
 */
import { type Answer, askText, LOOK_TIMEOUT_MS } from './ask-json.ts';

export type Partner = { readonly name: string | null; readonly website: string };

const CAP_BYTES = 8 * 1024 * 1024;
const LISTING_PATH = '/ecosystem';
const MAX_PARTNERS = 5_000;
/** A member of a record in JSON, or in JSON that a script of the page holds escaped. */
const WEBSITE = /\\?"websiteUrl\\?"\s*:\s*\\?"(https?:[^"\\\s]{1,2000})/g;

export async function askPartners(base: string): Promise<Answer<readonly Partner[]>> {
  const url = new URL(base).pathname === '/' ? new URL(LISTING_PATH, base).href : base;
  const page = await askText(url, { timeoutMs: LOOK_TIMEOUT_MS, capBytes: CAP_BYTES });
  if (!page.ok) return page;
  const partners = partnersIn(page.value);
  // A listing without anybody in it is a page that has changed, not a deserted ecosystem.
  if (partners.length === 0) {
    return { ok: false, detail: `${new URL(base).host} shows no partner records` };
  }
  return { ok: true, value: partners.slice(0, MAX_PARTNERS) };
}

function partnersIn(text: string): readonly Partner[] {
  const records = jsonRecords(text);
  if (records !== null) return records;
  return [...text.matchAll(WEBSITE)].flatMap(([, website]) =>
    website === undefined ? [] : [{ name: null, website }],
  );
}

function jsonRecords(text: string): readonly Partner[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const list = Array.isArray(value) ? value : listInside(value);
  return list.flatMap((record: unknown) => {
    if (typeof record !== 'object' || record === null) return [];
    const website: unknown = Reflect.get(record, 'websiteUrl');
    const name: unknown = Reflect.get(record, 'name');
    if (typeof website !== 'string') return [];
    return [{ name: typeof name === 'string' ? name : null, website }];
  });
}

function listInside(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).find((member) => Array.isArray(member)) ?? [];
}
