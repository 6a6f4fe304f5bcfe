/** Every message that is sent to an MCP endpoint. None of them carries a payment. */
import type { JsonObject } from '../model/json.ts';
import type { RpcMessage } from './client/client.ts';
import { type McpEra, MODERN_VERSION, PAYMENT_EXTENSION } from './plan/read-mcp.ts';

export type SentMessage = RpcMessage & { readonly id: number };

export type McpMessages = {
  /** `server/discover`, which MCP has from 2026-07-28 on. */
  discover(): SentMessage;
  /** Opens a session with a server that is older than that. */
  initialize(): SentMessage;
  initialized(era: McpEra): SentMessage;
  listTools(era: McpEra, cursor: string | null): SentMessage;
  callTool(era: McpEra, name: string, args: JsonObject): SentMessage;
};

const OFFERED_VERSION = '2025-11-25';
const CLIENT = { name: 'x402-conformance-scanner', version: '1' };
const PLAIN_HEADER = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Per request: the version, who asks, and that a `payment_required` result is understood. */
const MODERN_META: JsonObject = {
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': { extensions: { [PAYMENT_EXTENSION]: {} } },
};

/** Ids count from 1, as in one session. */
export function createMcpMessages(): McpMessages {
  let last = 0;
  const message = (method: string, params: JsonObject, era: McpEra | null): SentMessage => {
    last += 1;
    const name = typeof params['name'] === 'string' ? params['name'] : null;
    const isModern = era?.kind === 'modern';
    const all = isModern ? { ...params, _meta: MODERN_META } : params;
    return {
      id: last,
      body: JSON.stringify({ jsonrpc: '2.0', id: last, method, params: all }),
      headers: isModern ? modernHeaders(method, name) : legacyHeaders(era),
    };
  };
  return {
    discover: () => message('server/discover', {}, { kind: 'modern', hasExtension: true }),
    initialize: () =>
      message(
        'initialize',
        { protocolVersion: OFFERED_VERSION, capabilities: {}, clientInfo: CLIENT },
        null,
      ),
    initialized: (era) => ({
      id: 0,
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      headers: legacyHeaders(era),
    }),
    listTools: (era, cursor) => message('tools/list', cursor === null ? {} : { cursor }, era),
    callTool: (era, name, args) => message('tools/call', { name, arguments: args }, era),
  };
}

function modernHeaders(method: string, name: string | null): Readonly<Record<string, string>> {
  return {
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(name === null ? {} : { 'mcp-name': headerText(name) }),
  };
}

function legacyHeaders(era: McpEra | null): Readonly<Record<string, string>> {
  if (era?.kind !== 'legacy') return {};
  const session = era.sessionId === null ? {} : { 'mcp-session-id': era.sessionId };
  return { 'mcp-protocol-version': era.version, ...session };
}

/** Base64 in a sentinel where a name is no plain header value (MCP 2026-07-28, "Value Encoding"). */
function headerText(name: string): string {
  if (PLAIN_HEADER.test(name) && !name.startsWith('=?')) return name;
  return `=?base64?${Buffer.from(name, 'utf8').toString('base64')}?=`;
}
