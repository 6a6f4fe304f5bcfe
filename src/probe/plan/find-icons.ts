/** Finds the icons that the origin's root names. */
import type { Kit } from '../../parse/kit/kit.ts';
import type { FirstWave } from './declared-requests.ts';

/** `paths` has the icons that the root names, then the paths that browsers try. */
export type IconPlan = {
  readonly paths: readonly string[];
  readonly otherHosts: readonly string[];
  /** True if an icon is a data URL. */
  readonly inline: boolean;
};

const FALLBACK_PATHS = ['/favicon.ico', '/favicon.png', '/favicon.svg'];
const MAX_NAMED_ICONS = 2;
const MAX_OTHER_HOSTS = 5;

export function findIcons({ origin, root }: FirstWave, kit: Kit): IconPlan {
  const references = root.ok && kit.isHtml(root) ? readIconReferences(root.data.body, kit) : [];
  const base = root.ok ? root.data.url : origin.url;
  const paths: string[] = [];
  const otherHosts: string[] = [];
  for (const reference of references) {
    if (reference.startsWith('data:') || !URL.canParse(reference, base)) continue;
    const absolute = new URL(reference, base);
    const url = kit.sameOrigin(origin.url, absolute.href);
    if (url === null) otherHosts.push(absolute.host);
    else paths.push(url.pathname + url.search);
  }
  return {
    paths: [...new Set([...paths.slice(0, MAX_NAMED_ICONS), ...FALLBACK_PATHS])],
    otherHosts: [...new Set(otherHosts)].slice(0, MAX_OTHER_HOSTS),
    inline: references.some((reference) => reference.startsWith('data:')),
  };
}

function readIconReferences(body: string, kit: Kit): readonly string[] {
  return kit
    .html(body)
    .links.filter((link) => link.rel.includes('icon'))
    .map((link) => link.href.trim());
}
