/** Builds messages to an MCP endpoint, without a payment, and reads its answers on a worker. Does no I/O. */

import type { HttpObservation, Observations, PathAnswer } from '../../model/observations.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
} from '../../parse/json/json.ts';
import { createKit, type Kit } from '../../parse/kit/kit.ts';
import type { McpResponse } from '../../parse/mcp-tools/tool-answer.ts';
import { findRpcResponse, readToolPage, type ToolPage } from '../../parse/mcp-tools/tool-list.ts';
import { headerValue } from '../../parse/text/http-header.ts';
import type { RpcMessage } from '../client/client.ts';

/** Reads the answer to `tools/call`. */
export { readToolAnswer as readCall } from '../../parse/mcp-tools/tool-answer.ts';

/** The first revision with `server/discover`, and with extensions on each request. */
const MODERN_VERSION = '2026-07-28';
/** The extension that a client has to ask for (x402's specs/transports-v2/mcp.md). */
const PAYMENT_EXTENSION = 'org.x402/payment';
const LATEST_LEGACY_VERSION = '2025-11-25';
const VERSION_FORMAT = /^\d{4}-\d{2}-\d{2}$/;
/** MCP allows only visible ASCII. A line break in an id would add a header to our requests. */
const SESSION_ID = /^[\x21-\x7e]{1,512}$/;

/** Reads the answer to `server/discover`; null if the endpoint does not support `MODERN_VERSION`. */
export function readDiscovery({ answer, id }: McpResponse): McpEra | null {
  const result = readResult(answer, id);
  if (!jsonList(result?.['supportedVersions']).includes(MODERN_VERSION)) return null;
  const { extensions } = jsonObject(result?.['capabilities']);
  return { kind: 'modern', hasExtension: Object.hasOwn(jsonObject(extensions), PAYMENT_EXTENSION) };
}

/** Reads the answer to `initialize`; null if no MCP server answered. */
export function readInitialization({ answer, id }: McpResponse): McpEra | null {
  const serverVersion = jsonText(readResult(answer, id)?.['protocolVersion']);
  if (serverVersion === null || !answer.ok) return null;
  const version = VERSION_FORMAT.test(serverVersion) ? serverVersion : LATEST_LEGACY_VERSION;
  const header = headerValue(answer.data, 'mcp-session-id');
  const sessionId = header !== null && SESSION_ID.test(header) ? header : null;
  return { kind: 'legacy', version, sessionId };
}

/** Reads the answer to `tools/list`; null if it holds no list. */
export function readTools({ answer, id }: McpResponse): ToolPage | null {
  const result = readResult(answer, id);
  return result === null ? null : readToolPage(result);
}

function readResult(answer: HttpObservation, id: number): JsonObject | null {
  if (!answer.ok) return null;
  const result = findRpcResponse(answer.data, id)?.['result'];
  return result === undefined ? null : jsonObject(result);
}

/** Paths at which MCP servers describe themselves: server cards, the older manifest and the registry's file. */
export const MCP_DOCUMENTS = [
  '/.well-known/mcp/server-card.json',
  '/.well-known/mcp.json',
  '/.well-known/mcp',
  '/server.json',
] as const;

/** The form of MCP that a server speaks: `modern` has no sessions; `legacy` opens one by `initialize`. */
export type McpEra =
  | { readonly kind: 'modern'; readonly hasExtension: boolean }
  | { readonly kind: 'legacy'; readonly version: string; readonly sessionId: string | null };

/** Observations that may name the paths at which an origin speaks MCP. */
export type EndpointClues = {
  readonly observations: Pick<
    Observations,
    'origin' | 'soft404' | 'agentCard' | 'agentJson' | 'manifest' | 'manifestJson' | 'llmsTxt'
  >;
  /** Answers at the paths of `MCP_DOCUMENTS`. */
  readonly documents: readonly PathAnswer[];
};

const USUAL_PATH = '/mcp';
const MAX_ENDPOINTS = 3;
const MAX_DEPTH = 4;
const MAX_VALUES = 2_000;
const MCP_PATH = /(?:^|\/)mcp\/?$/i;

/** Returns paths on this origin, the likeliest first. */
export function findEndpoints({ observations, documents }: EndpointClues): readonly string[] {
  const kit = createKit();
  const { agentCard, agentJson, manifest, manifestJson } = observations;
  const addresses = [
    ...documents.flatMap(({ answer }) => findAddresses(answer, kit)),
    ...[agentCard, agentJson, manifest, manifestJson]
      .flatMap((answer) => findAddresses(answer, kit))
      .filter(isMcpAddress),
    ...findLlmsAddresses(observations, kit).filter(isMcpAddress),
  ];
  const paths = [...addresses, USUAL_PATH].flatMap((address) => {
    const url = kit.sameOrigin(observations.origin.url, address);
    return url === null ? [] : [url.pathname + url.search];
  });
  return [...new Set(paths)].slice(0, MAX_ENDPOINTS);
}

/** Returns the values of `url`, `endpoint` and `resource` at any depth of a JSON document. */
function findAddresses(answer: HttpObservation, kit: Kit): readonly string[] {
  if (!answer.ok || answer.data.status !== 200) return [];
  const reading = kit.json(answer.data.body);
  if (!reading.ok) return [];
  const addresses: string[] = [];
  let visits = 0;
  const walk = (value: JsonValue, depth: number): void => {
    visits += 1;
    if (depth > MAX_DEPTH || visits > MAX_VALUES) return;
    for (const item of jsonList(value)) walk(item, depth + 1);
    if (!isJsonObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && /^(?:url|endpoint|resource)$/.test(name))
        addresses.push(inner);
      if (typeof inner === 'object' && inner !== null) walk(inner, depth + 1);
    }
  };
  walk(reading.value, 0);
  return addresses;
}

function findLlmsAddresses(
  { llmsTxt, soft404 }: EndpointClues['observations'],
  kit: Kit,
): readonly string[] {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  return reading.state === 'present' ? kit.markdown(reading.body).links.slice(0, MAX_VALUES) : [];
}

function isMcpAddress(address: string): boolean {
  return MCP_PATH.test(URL.parse(address, 'https://any.invalid')?.pathname ?? '');
}

export type SentMessage = RpcMessage & { readonly id: number };

const CLIENT = { name: 'x402-conformance-scanner', version: '1' };
const PLAIN_HEADER = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const LEGACY_PARAMS = {
  protocolVersion: LATEST_LEGACY_VERSION,
  capabilities: {},
  clientInfo: CLIENT,
};
/** Sent with each request: the version, our name, and that we understand a `payment_required` result. */
const MODERN_META: JsonObject = {
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': { extensions: { [PAYMENT_EXTENSION]: {} } },
};

/** The era of a message; null for a message that opens a session. */
type SpokenEra = Extract<McpEra, { kind: 'legacy' }> | { readonly kind: 'modern' } | null;

export type McpMessages = ReturnType<typeof createMcpMessages>;

/** Message ids count from 1. */
export function createMcpMessages() {
  let lastId = 0;
  const toMessage = (method: string, params: JsonObject, era: SpokenEra): SentMessage => {
    lastId += 1;
    const name = typeof params['name'] === 'string' ? params['name'] : null;
    const isModern = era?.kind === 'modern';
    const allParams = isModern ? { ...params, _meta: MODERN_META } : params;
    return {
      id: lastId,
      body: JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params: allParams }),
      headers: isModern ? toModernHeaders(method, name) : toLegacyHeaders(era),
    };
  };
  return {
    /** `server/discover`, which MCP has from 2026-07-28 on. */
    discover: () => toMessage('server/discover', {}, { kind: 'modern' }),
    /** Opens a session with a server of an older revision. */
    initialize: () => toMessage('initialize', LEGACY_PARAMS, null),
    /** A notification, which gets no answer. Its id is not sent. */
    initialized: (era: McpEra): SentMessage => ({
      id: 0,
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      headers: toLegacyHeaders(era),
    }),
    listTools: (era: McpEra, cursor: string | null) =>
      toMessage('tools/list', cursor === null ? {} : { cursor }, era),
    callTool: (era: McpEra, name: string, args: JsonObject) =>
      toMessage('tools/call', { name, arguments: args }, era),
  };
}

function toModernHeaders(method: string, name: string | null): Readonly<Record<string, string>> {
  return {
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(name === null ? {} : { 'mcp-name': encodeHeaderValue(name) }),
  };
}

function toLegacyHeaders(era: SpokenEra): Readonly<Record<string, string>> {
  if (era?.kind !== 'legacy') return {};
  const session = era.sessionId === null ? {} : { 'mcp-session-id': era.sessionId };
  return { 'mcp-protocol-version': era.version, ...session };
}

/** Encodes a name in Base64 if it is not a plain header value (MCP 2026-07-28, "Value Encoding"). */
function encodeHeaderValue(name: string): string {
  if (PLAIN_HEADER.test(name) && !name.startsWith('=?')) return name;
  return `=?base64?${Buffer.from(name, 'utf8').toString('base64')}?=`;
}
