/** Finds the links in the origin's documents. Endpoints of an API are not links. */

import type { LinkSet } from '../../model/observations.ts';
import type { JsonValue } from '../../parse/json/json.ts';
import { escapePointerStep } from '../../parse/json/json-pointer.ts';
import type { OpenApiReading } from '../../parse/kit/find-documents.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import type { DocumentReading } from '../../parse/kit/read-document.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import { toBraces } from '../../parse/openapi/openapi-path.ts';
import { type FirstWave, findPathOnOrigin } from './declared-requests.ts';
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
  /** True for an address that clients call by POST. GET finds nothing there, and says nothing about it. */
  readonly isEndpoint: boolean;
};

const MAX_LINKS = 25;
const MAX_REFERENCES = 2_000;
/** Members of agent cards and manifests that hold addresses meant to be opened. */
const ADDRESS_MEMBER =
  /^(?:url|href|terms|termsofservice|documentation|docs|openapi|manifest|website|\w*url)$/i;
/** Members that hold an address of an API: "token_url", "jsonRpcUrl", "mcpServerUrl". */
const ENDPOINT_MEMBER =
  /(?:callback|webhook|rpc|mcp|token)s?(?:[_-]?(?:url|uri|endpoint|server|address)s?)*$/i;
/** Members whose parent says what they address: {"webhook": {"url": …}}. */
const GENERIC_MEMBER = /^(?:url|uri|href|endpoint|address)$/i;
/** A2A: the address of the agent (0.3) and of its interfaces (0.3 and 1.0). All requests to them are POST. */
const CARD_ENDPOINT = /^\/(?:(?:\w*interfaces)\/\d+\/)?url$/i;
/** A manifest's own address, to which its paths are added. Nothing need answer there, so it is not a link. */
const MANIFEST_BASE = /^\/(?:(?:api|service|server)\/)?(?:url|href)$|base_?url$/i;

export function findLinks(wave: FirstWave, kit: Kit): LinkPlan {
  const openapi = kit.openapi(wave);
  const entries = readManifestEntries(kit.manifest(wave)).flatMap(({ method, target }) => {
    const path = method === null ? null : findPathOnOrigin(wave.origin.url, target, kit);
    return method === null || path === null ? [] : [{ method, requestPath: path, template: path }];
  });
  const operations = openapi.state === 'found' ? openapi.facts.operations : [];
  const declaredMethods = indexMethods([...operations, ...entries]);
  const referenceLists = [
    readLlmsReferences(wave, kit),
    openapi.state === 'found' ? readOpenapiReferences(openapi) : null,
    readCardReferences(wave, kit),
    readManifestReferences(wave, kit),
  ].filter((references) => references !== null);

  const references = referenceLists.flat().slice(0, MAX_REFERENCES);
  const resolve = (target: string) => kit.sameOrigin(wave.origin.url, target);
  // An address that one document calls an endpoint is not a link in another document either.
  const endpoints = new Set(
    references.filter(({ isEndpoint }) => isEndpoint).map(({ target }) => resolve(target)?.href),
  );
  const links = new Map<string, PlannedLink>();
  const otherTargets = new Set<string>();
  for (const reference of references) {
    const { target, from, server } = reference;
    if (!isFollowable(target, wave.origin.url)) continue;
    const url = resolve(target);
    if (url === null) {
      otherTargets.add(target);
      continue;
    }
    const path = url.pathname + url.search;
    const method = chooseMethod(declaredMethods.get(path) ?? [], reference.method);
    // A link by POST has a probe's answer, and a server need only accept connections.
    if (method === 'GET' && !server && endpoints.has(url.href)) continue;
    // A page at the address of a server is a further link, because it must answer.
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

/** Fragments, mail addresses and templates ("/users/{id}", "/users/:id") are not addresses to open. */
function isFollowable(target: string, originUrl: string): boolean {
  if (target.startsWith('#') || toBraces(target).includes('{')) return false;
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

/** Indexes methods by requested path and by template. Built once, for documents with many operations and links. */
function indexMethods(
  operations: readonly Pick<Operation, 'method' | 'requestPath' | 'template'>[],
): DeclaredMethods {
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
  const { links, endpointLinks } = kit.markdown(reading.body);
  const endpointTargets = new Set(endpointLinks);
  return links.map((target) => ({
    ...toReference(target, '/llms.txt'),
    isEndpoint: endpointTargets.has(target),
  }));
}

function readOpenapiReferences(
  openapi: Extract<OpenApiReading, { state: 'found' }>,
): readonly Reference[] {
  const { servers, externalDocs } = openapi.facts;
  const toReferences = (urls: typeof servers) =>
    urls.map(({ url, pointer }) => toReference(url, `${openapi.path}#${pointer}`));
  return [
    ...toReferences(servers).map((reference) => ({ ...reference, server: true })),
    ...toReferences(externalDocs),
  ];
}

function readCardReferences(wave: FirstWave, kit: Kit): readonly Reference[] | null {
  const canonical = kit.document('/.well-known/agent-card.json', wave.agentCard, wave.soft404);
  const reading =
    canonical.state === 'present'
      ? canonical
      : kit.document('/.well-known/agent.json', wave.agentJson, wave.soft404);
  const references = readJsonReferences(reading, kit);
  return (
    references?.map((reference) => ({
      ...reference,
      isEndpoint: reference.isEndpoint || CARD_ENDPOINT.test(toPointer(reference)),
    })) ?? null
  );
}

function readManifestReferences(wave: FirstWave, kit: Kit): readonly Reference[] | null {
  const manifest = kit.manifest(wave);
  if (manifest.state !== 'found') return null;
  const { path } = manifest;
  const entries = readManifestEntries(manifest)
    .filter(({ sale }) => sale !== 'base') // like MANIFEST_BASE
    .map(({ target, pointer, method }) => {
      return { ...toReference(target, `${path}#${pointer}`), method };
    });
  const answer = manifest.canonical ? wave.manifest : wave.manifestJson;
  const others = readJsonReferences(kit.document(path, answer, wave.soft404), kit) ?? [];
  const entryTargets = new Set(entries.map((entry) => entry.target));
  return [
    ...entries,
    ...others.filter(
      (reference) =>
        !entryTargets.has(reference.target) && !MANIFEST_BASE.test(toPointer(reference)),
    ),
  ];
}

function readJsonReferences(reading: DocumentReading, kit: Kit): readonly Reference[] | null {
  if (reading.state !== 'present') return null;
  const json = kit.json(reading.body);
  if (!json.ok) return null;
  const references: Reference[] = [];
  collectReferences(json.value, { path: reading.path, pointer: '', isEndpoint: false }, references);
  return references;
}

type Place = {
  readonly path: string;
  readonly pointer: string;
  /** True below a member that is named like an endpoint. */
  readonly isEndpoint: boolean;
};

function collectReferences(
  value: JsonValue | undefined,
  { path, pointer, isEndpoint }: Place,
  references: Reference[],
): void {
  if (references.length >= MAX_REFERENCES || typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) {
    const at = `${pointer}/${escapePointerStep(member)}`;
    const isNamedEndpoint = ENDPOINT_MEMBER.test(member);
    if (typeof inner === 'object') {
      const place = { path, pointer: at, isEndpoint: isEndpoint || isNamedEndpoint };
      collectReferences(inner, place, references);
    } else if (
      typeof inner === 'string' &&
      ADDRESS_MEMBER.test(member) &&
      /^https?:\/\/|^\//.test(inner)
    ) {
      references.push({
        ...toReference(inner, `${path}#${at}`),
        isEndpoint: isNamedEndpoint || (isEndpoint && GENERIC_MEMBER.test(member)),
      });
    }
  }
}

function toPointer({ from }: Reference): string {
  return from.slice(from.indexOf('#') + 1);
}

function toReference(target: string, from: string): Reference {
  return { target, from, method: null, server: false, isEndpoint: false };
}
