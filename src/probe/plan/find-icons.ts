/** Icons that the root names, then the places where browsers look. */
import type { Kit } from '../../parse/kit/kit.ts';
import type { FirstWave } from './first-wave.ts';

export type IconPlan = {
  readonly paths: readonly string[];
  readonly otherHosts: readonly string[];
  readonly inline: boolean;
};

const FALLBACKS = ['/favicon.ico', '/favicon.png', '/favicon.svg'];
const MAX_NAMED = 2;
const MAX_REMEMBERED_HOSTS = 5;

export function findIcons({ origin, root }: FirstWave, kit: Kit): IconPlan {
  const named = root.ok && kit.isHtml(root) ? iconReferences(root.data.body, kit) : [];
  const base = root.ok ? root.data.url : origin.url;
  const paths: string[] = [];
  const otherHosts: string[] = [];
  for (const reference of named) {
    if (reference.startsWith('data:') || !URL.canParse(reference, base)) continue;
    const absolute = new URL(reference, base);
    const own = kit.sameOrigin(origin.url, absolute.href);
    if (own === null) otherHosts.push(absolute.host);
    else paths.push(own.pathname + own.search);
  }
  return {
    paths: [...new Set([...paths.slice(0, MAX_NAMED), ...FALLBACKS])],
    otherHosts: [...new Set(otherHosts)].slice(0, MAX_REMEMBERED_HOSTS),
    inline: named.some((reference) => reference.startsWith('data:')),
  };
}

function iconReferences(body: string, kit: Kit): readonly string[] {
  return kit
    .html(body)
    .links.filter((link) => link.rel.includes('icon'))
    .map((link) => link.href.trim());
}
