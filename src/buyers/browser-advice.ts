/** Judges the challenge in a browser: by the CORS protocol of Fetch, and as a page in a tab. */

import type { HttpData } from '../model/observation.ts';
import { BROWSER_ORIGIN, type BrowserAnswers } from '../model/observations.ts';
import type { AdviceId } from '../model/report.ts';
import type { Kit } from '../parse/kit/kit.ts';

type Found = readonly [id: AdviceId, text: string];

const CHALLENGE_HEADER = 'payment-required';

export function browserAdvice(
  { path, fetched, opened }: BrowserAnswers,
  kit: Kit,
): readonly Found[] {
  const request = kit.request('GET', path);
  const found: Found[] = [];
  if (fetched.ok && fetched.data.status === 402) {
    const hidden = hiddenWhy(fetched.data, kit);
    if (hidden !== null) found.push(['hidden-from-browsers', `${request}: ${hidden}`]);
  }
  if (!fetched.ok || !opened.ok || kit.header(fetched.data, CHALLENGE_HEADER) === null)
    return found;
  const paywall = paywallWithout(opened.data, kit);
  if (paywall !== null) {
    found.push(['paywall-without-challenge', `${request} opened in a browser: ${paywall}`]);
  }
  const [one, other] = [findKind(fetched.data, kit), findKind(opened.data, kit)];
  if (one !== other && ![fetched.data, opened.data].every((data) => variesByAccept(data, kit))) {
    found.push([
      'varies-unsaid',
      `${request}: ${one} to a script, ${other} to a browser, without Vary: Accept on both`,
    ]);
  }
  return found;
}

/** Finds why a script of another site cannot read the challenge (Fetch, 4.10 and 3.3.3); null when it can. */
function hiddenWhy(data: HttpData, kit: Kit): string | null {
  const allowed = kit.headers(data, 'access-control-allow-origin');
  if (allowed.length === 0) return '402 without Access-Control-Allow-Origin';
  // Repeated headers join to one value, which is neither `*` nor an origin.
  const value = allowed.join(', ');
  if (value !== '*' && value !== BROWSER_ORIGIN) {
    return `Access-Control-Allow-Origin: ${kit.quote(value)} lets no other site read it`;
  }
  if (kit.header(data, CHALLENGE_HEADER) === null) return null;
  const exposed = listOf(data, 'access-control-expose-headers', kit);
  if (exposed.includes('*') || exposed.includes(CHALLENGE_HEADER)) return null;
  return 'Access-Control-Expose-Headers does not name PAYMENT-REQUIRED';
}

/** A firewall or an error is no paywall. */
function paywallWithout(data: HttpData, kit: Kit): string | null {
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
  const names = listOf(data, 'vary', kit);
  return names.includes('*') || names.includes('accept');
}

function listOf(data: HttpData, name: string, kit: Kit): readonly string[] {
  const values = kit.headers(data, name).flatMap((value) => value.split(','));
  return values.map((value) => value.trim().toLowerCase());
}
