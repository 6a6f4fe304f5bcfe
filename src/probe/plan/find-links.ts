/** Finds the links in the origin's documents, and the icons that its root names. */

import type { LinkSet } from '../../model/observations.ts';
import type { JsonValue } from '../../parse/json/json.ts';
import type { OpenApiReading } from '../../parse/kit/find-openapi.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { DocumentReading } from '../../parse/kit/read-document.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import type { FirstWave } from './declared-requests.ts';
import { readManifestEntries } from './find-resources.ts';

export type PlannedLink = {
  readonly url: string;
  readonly path: string;
  readonly from: string;
  /** POST only if the documents declare no GET. A link sends no POST; it uses the answer that a probe got. */
  readonly method: 'GET' | 'POST';
  /** True for a server of the OpenAPI document. */
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

export function findLinks(wave: FirstWave, kit: Kit): LinkPlan {
  const openapi = kit.openapi(wave);
  const declaredMethods = indexMethods(openapi.state === 'found' ? openapi.facts.operations : []);
  const referenceLists = [
    readLlmsReferences(wave, kit),
    openapi.state === 'found' ? readOpenapiReferences(openapi) : null,
    readCardReferences(wave, kit),
    readManifestReferences(wave, kit),
  ].filter((references) => references !== null);

  const links = new Map<string, PlannedLink>();
  const otherTargets = new Set<string>();
  for (const reference of referenceLists.flat().slice(0, MAX_REFERENCES)) {
    const { target, from, server } = reference;
    if (!isFollowable(target, wave.origin.url)) continue;
    const url = kit.sameOrigin(wave.origin.url, target);
    if (url === null) {
      otherTargets.add(target);
      continue;
    }
    const path = url.pathname + url.search;
    const method = chooseMethod(declaredMethods.get(path) ?? [], reference.method);
    const key = server ? `server ${path}` : path;
    if (method !== null && !links.has(key)) {
      links.set(key, { url: url.href, path, from, method, server });
    }
  }
  return {
    links: [...links.values()].slice(0, MAX_LINKS),
    found: links.size,
    otherHosts: otherTargets.size,
    documents: referenceLists.length,
  };
}

/** Fragments, mail addresses and templates ("/users/{id}") are not addresses to open. */
function isFollowable(target: string, originUrl: string): boolean {
  if (target.startsWith('#') || target.includes('{')) return false;
  return /^https?:$/.test(URL.parse(target, originUrl)?.protocol ?? '');
}

/** Returns GET if a document declares GET or no document declares a method. Otherwise returns POST or null. */
function chooseMethod(declared: Iterable<string>, ownMethod: string | null): 'GET' | 'POST' | null {
  const methods = new Set(declared);
  if (ownMethod !== null) methods.add(ownMethod.toUpperCase());
  if (methods.size === 0 || methods.has('GET')) return 'GET';
  return methods.has('POST') ? 'POST' : null;
}

type DeclaredMethods = ReadonlyMap<string, ReadonlySet<string>>;

/** Indexes methods by requested path and by template. Built once, because both lists can be long. */
function indexMethods(operations: readonly Operation[]): DeclaredMethods {
  const byPath = new Map<string, Set<string>>();
  for (const { method, requestPath, template } of operations) {
    for (const path of [requestPath, template]) {
      const methods = byPath.get(path) ?? new Set();
      byPath.set(path, methods.add(method));
    }
  }
  return byPath;
}

function readLlmsReferences(
  { llmsTxt, soft404 }: FirstWave,
  kit: Kit,
): readonly Reference[] | null {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  if (reading.state !== 'present') return null;
  return kit.markdown(reading.body).links.map((target) => toReference(target, '/llms.txt'));
}

function readOpenapiReferences({
  path,
  facts,
}: Extract<OpenApiReading, { state: 'found' }>): readonly Reference[] {
  const servers = facts.servers.map(({ url, pointer }) => toReference(url, `${path}#${pointer}`));
  return [
    ...servers.map((reference) => ({ ...reference, server: true })),
    ...facts.externalDocs.map(({ url, pointer }) => toReference(url, `${path}#${pointer}`)),
  ];
}

function readCardReferences(wave: FirstWave, kit: Kit): readonly Reference[] | null {
  const canonical = kit.document('/.well-known/agent-card.json', wave.agentCard, wave.soft404);
  const reading =
    canonical.state === 'present'
      ? canonical
      : kit.document('/.well-known/agent.json', wave.agentJson, wave.soft404);
  return readJsonReferences(reading, kit);
}

function readManifestReferences(wave: FirstWave, kit: Kit): readonly Reference[] | null {
  const manifest = kit.manifest(wave);
  if (manifest.state !== 'found') return null;
  const { path } = manifest;
  const entries = readManifestEntries(manifest).map(({ target, pointer, method }) => ({
    ...toReference(target, `${path}#${pointer}`),
    method,
  }));
  const answer = manifest.canonical ? wave.manifest : wave.manifestJson;
  const others = readJsonReferences(kit.document(path, answer, wave.soft404), kit) ?? [];
  const entryTargets = new Set(entries.map((entry) => entry.target));
  return [...entries, ...others.filter((reference) => !entryTargets.has(reference.target))];
}

function readJsonReferences(reading: DocumentReading, kit: Kit): readonly Reference[] | null {
  if (reading.state !== 'present') return null;
  const json = kit.json(reading.body);
  if (!json.ok) return null;
  const references: Reference[] = [];
  collectReferences(json.value, '', reading.path, references);
  return references;
}

function collectReferences(
  value: JsonValue | undefined,
  pointer: string,
  path: string,
  references: Reference[],
): void {
  if (references.length >= MAX_REFERENCES || typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) {
    const at = `${pointer}/${member}`;
    if (typeof inner === 'object') collectReferences(inner, at, path, references);
    else if (
      typeof inner === 'string' &&
      ADDRESS_MEMBER.test(member) &&
      /^https?:\/\/|^\//.test(inner)
    ) {
      references.push(toReference(inner, `${path}#${at}`));
    }
  }
}

function toReference(target: string, from: string): Reference {
  return { target, from, method: null, server: false };
}

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
