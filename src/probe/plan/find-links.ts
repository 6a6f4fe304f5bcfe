/** Links that the origin's documents hold, and icons that its root names. */

import type { LinkSet } from '../../model/observations.ts';
import type { JsonValue } from '../../parse/json/json.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { DocumentReading } from '../../parse/kit/read-document.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import type { FirstWave } from './declared-requests.ts';

export type PlannedLink = {
  readonly url: string;
  readonly path: string;
  readonly from: string;
  /** POST only if a document declares nothing else: answered by a probe, or not at all. */
  readonly method: 'GET' | 'POST';
  readonly server: boolean;
};

export type LinkPlan = Omit<LinkSet, 'checked'> & { readonly links: readonly PlannedLink[] };

type Reference = {
  readonly target: string;
  readonly from: string;
  readonly method: string | null;
  readonly server: boolean;
};

const MAX_LINKS = 25;
const MAX_REFERENCES = 2_000;
/** Members of agent cards and manifests that hold addresses meant to be opened. */
const ADDRESS_MEMBER =
  /^(?:url|href|terms|termsofservice|documentation|docs|openapi|manifest|website|\w*url)$/i;

export function findLinks(seen: FirstWave, kit: Kit): LinkPlan {
  const openapi = kit.openapi(seen);
  const declared = declaredMethods(openapi.state === 'found' ? openapi.facts.operations : []);
  const perDocument = [
    llmsReferences(seen, kit),
    openapi.state === 'found' ? openapiReferences(openapi) : null,
    cardReferences(seen, kit),
    manifestReferences(seen, kit),
  ].filter((references) => references !== null);

  const links = new Map<string, PlannedLink>();
  const elsewhere = new Set<string>();
  for (const reference of perDocument.flat().slice(0, MAX_REFERENCES)) {
    if (!isFollowable(reference.target, seen.origin.url)) continue;
    const own = kit.sameOrigin(seen.origin.url, reference.target);
    if (own === null) {
      elsewhere.add(reference.target);
      continue;
    }
    const path = own.pathname + own.search;
    const method = methodOf(path, reference, declared);
    const key = reference.server ? `server ${path}` : path;
    if (method !== null && !links.has(key)) {
      links.set(key, {
        url: own.href,
        path,
        from: reference.from,
        method,
        server: reference.server,
      });
    }
  }
  return {
    links: [...links.values()].slice(0, MAX_LINKS),
    found: links.size,
    otherHosts: elsewhere.size,
    documents: perDocument.length,
  };
}

/** Fragments, mail addresses and templates ("/users/{id}") are not addresses to open. */
function isFollowable(target: string, originUrl: string): boolean {
  if (target.startsWith('#') || target.includes('{') || !URL.canParse(target, originUrl))
    return false;
  return /^https?:$/.test(new URL(target, originUrl).protocol);
}

/** The method any document declares for a path: GET where one does or none does. */
function methodOf(
  path: string,
  { method }: Reference,
  declared: DeclaredMethods,
): 'GET' | 'POST' | null {
  const methods = new Set(declared.get(path));
  if (method !== null) methods.add(method.toUpperCase());
  if (methods.size === 0 || methods.has('GET')) return 'GET';
  return methods.has('POST') ? 'POST' : null;
}

type DeclaredMethods = ReadonlyMap<string, ReadonlySet<string>>;

/** Indexes methods by path as requested and as written; made once, because both lists can be long. */
function declaredMethods(operations: readonly Operation[]): DeclaredMethods {
  const byPath = new Map<string, Set<string>>();
  for (const { method, requestPath, template } of operations) {
    for (const path of [requestPath, template]) {
      const methods = byPath.get(path) ?? new Set();
      byPath.set(path, methods.add(method));
    }
  }
  return byPath;
}

function llmsReferences({ llmsTxt, soft404 }: FirstWave, kit: Kit): readonly Reference[] | null {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  if (reading.state !== 'present') return null;
  return kit.markdown(reading.body).links.map((target) => link(target, '/llms.txt'));
}

function openapiReferences(openapi: {
  readonly path: string;
  readonly facts: {
    readonly servers: readonly { readonly url: string; readonly pointer: string }[];
    readonly externalDocs: readonly { readonly url: string; readonly pointer: string }[];
  };
}): readonly Reference[] {
  return [
    ...openapi.facts.servers.map(({ url, pointer }) => ({
      ...link(url, `${openapi.path}#${pointer}`),
      server: true,
    })),
    ...openapi.facts.externalDocs.map(({ url, pointer }) =>
      link(url, `${openapi.path}#${pointer}`),
    ),
  ];
}

function cardReferences(seen: FirstWave, kit: Kit): readonly Reference[] | null {
  const canonical = kit.document('/.well-known/agent-card.json', seen.agentCard, seen.soft404);
  const reading =
    canonical.state === 'present'
      ? canonical
      : kit.document('/.well-known/agent.json', seen.agentJson, seen.soft404);
  return jsonReferences(reading, kit);
}

function manifestReferences(seen: FirstWave, kit: Kit): readonly Reference[] | null {
  const manifest = kit.manifest(seen);
  if (manifest.state !== 'found') return null;
  const { facts, path } = manifest;
  const entries =
    facts.shape === 'unknown'
      ? []
      : facts.entries.map(({ target, pointer, method }) => ({
          ...link(target, `${path}#${pointer}`),
          method,
        }));
  const answer = manifest.canonical ? seen.manifest : seen.manifestJson;
  const other = jsonReferences(kit.document(path, answer, seen.soft404), kit) ?? [];
  const known = new Set(entries.map((entry) => entry.target));
  return [...entries, ...other.filter((reference) => !known.has(reference.target))];
}

function jsonReferences(reading: DocumentReading, kit: Kit): readonly Reference[] | null {
  if (reading.state !== 'present') return null;
  const json = kit.json(reading.body);
  if (!json.ok) return null;
  const references: Reference[] = [];
  collect(json.value, '', reading.path, references);
  return references;
}

function collect(
  value: JsonValue | undefined,
  pointer: string,
  path: string,
  into: Reference[],
): void {
  if (into.length >= MAX_REFERENCES || typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) {
    const at = `${pointer}/${member}`;
    if (typeof inner === 'object') collect(inner, at, path, into);
    else if (
      typeof inner === 'string' &&
      ADDRESS_MEMBER.test(member) &&
      /^https?:\/\/|^\//.test(inner)
    ) {
      into.push(link(inner, `${path}#${at}`));
    }
  }
}

function link(target: string, from: string): Reference {
  return { target, from, method: null, server: false };
}

/** Icons that the root names, then the places where browsers look. */
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
