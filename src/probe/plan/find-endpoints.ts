/** Finds the paths at which an origin may speak MCP: its documents' own, then the usual one. */
import type { HttpObservation, Observations, PathAnswer } from '../../model/observations.ts';
import { isJsonObject, type JsonValue, jsonList, jsonObject } from '../../parse/json/json.ts';
import { createKit } from '../../parse/kit/create-kit.ts';
import type { Kit } from '../../parse/kit/kit.ts';

export type EndpointClues = {
  readonly first: Pick<
    Observations,
    'origin' | 'soft404' | 'agentCard' | 'agentJson' | 'manifest' | 'manifestJson' | 'llmsTxt'
  >;
  /** Answers at the places of `MCP_DOCUMENTS`. */
  readonly documents: readonly PathAnswer[];
};

const USUAL = '/mcp';
const MAX_ENDPOINTS = 3;
const MAX_DEPTH = 4;
const MAX_VALUES = 2_000;
/** A path of any document whose last step says that MCP is spoken there. */
const NAMED_MCP = /(?:^|\/)mcp\/?$/i;

/** Paths on this origin, the likeliest first. */
export function findEndpoints({ first, documents }: EndpointClues): readonly string[] {
  const kit = createKit();
  const named = [
    ...documents.flatMap(({ answer }) => addressesIn(answer, kit)),
    ...[first.agentCard, first.agentJson, first.manifest, first.manifestJson]
      .flatMap((answer) => addressesIn(answer, kit))
      .filter((address) => NAMED_MCP.test(pathOf(address))),
    ...llmsAddresses(first, kit).filter((address) => NAMED_MCP.test(pathOf(address))),
  ];
  const paths = [...named, USUAL].flatMap((address) => {
    const url = kit.sameOrigin(first.origin.url, address);
    return url === null ? [] : [url.pathname + url.search];
  });
  return [...new Set(paths)].slice(0, MAX_ENDPOINTS);
}

/** Values of `url`, `endpoint` and `resource`, wherever a JSON document has them. */
function addressesIn(answer: HttpObservation, kit: Kit): readonly string[] {
  if (!answer.ok || answer.data.status !== 200) return [];
  const read = kit.json(answer.data.body);
  if (!read.ok) return [];
  const found: string[] = [];
  let seen = 0;
  const walk = (value: JsonValue, depth: number): void => {
    seen += 1;
    if (depth > MAX_DEPTH || seen > MAX_VALUES) return;
    for (const item of jsonList(value)) walk(item, depth + 1);
    if (!isJsonObject(value)) return;
    for (const [name, inner] of Object.entries(jsonObject(value))) {
      if (typeof inner === 'string' && /^(?:url|endpoint|resource)$/.test(name)) found.push(inner);
      if (typeof inner === 'object' && inner !== null) walk(inner, depth + 1);
    }
  };
  walk(read.value, 0);
  return found;
}

function llmsAddresses({ llmsTxt, soft404 }: EndpointClues['first'], kit: Kit): readonly string[] {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  return reading.state === 'present' ? kit.markdown(reading.body).links.slice(0, MAX_VALUES) : [];
}

function pathOf(address: string): string {
  return URL.parse(address, 'https://any.invalid')?.pathname ?? '';
}
