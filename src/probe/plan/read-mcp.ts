/** Reads the answers of an MCP endpoint, step by step; pure, runs on a worker. */
import type { HttpObservation } from '../../model/observations.ts';
import { type JsonObject, jsonList, jsonObject, jsonText } from '../../parse/json/json.ts';
import { rpcResponse } from '../../parse/mcp-tools/rpc-message.ts';
import { readToolAnswer, type ToolAnswer } from '../../parse/mcp-tools/tool-answer.ts';
import { readToolPage, type ToolPage } from '../../parse/mcp-tools/tool-list.ts';
import { headerValue } from '../../parse/text/http-header.ts';
import { type McpEra, MODERN_VERSION, PAYMENT_EXTENSION } from './mcp-era.ts';

export { type EndpointClues, findEndpoints } from './find-endpoints.ts';

export type McpSeen = { readonly answer: HttpObservation; readonly id: number };

const LATEST_LEGACY_VERSION = '2025-11-25';
const VERSION = /^\d{4}-\d{2}-\d{2}$/;
/** MCP: visible ASCII; so no answer can add a header to a request. */
const SESSION_ID = /^[\x21-\x7e]{1,512}$/;

/** Reads the answer to `server/discover`; null where the endpoint does not know it. */
export function readDiscovery({ answer, id }: McpSeen): McpEra | null {
  const result = resultOf(answer, id);
  if (!jsonList(result?.['supportedVersions']).includes(MODERN_VERSION)) return null;
  const { extensions } = jsonObject(result?.['capabilities']);
  return { kind: 'modern', hasExtension: Object.hasOwn(jsonObject(extensions), PAYMENT_EXTENSION) };
}

/** Reads the answer to `initialize`; null where no MCP server answered. */
export function readInitialization({ answer, id }: McpSeen): McpEra | null {
  const stated = jsonText(resultOf(answer, id)?.['protocolVersion']);
  if (stated === null || !answer.ok) return null;
  const version = VERSION.test(stated) ? stated : LATEST_LEGACY_VERSION;
  const sessionId = headerValue(answer.data, 'mcp-session-id');
  return {
    kind: 'legacy',
    version,
    sessionId: sessionId !== null && SESSION_ID.test(sessionId) ? sessionId : null,
  };
}

/** Reads the answer to `tools/list`; null where there is no list in it. */
export function readTools({ answer, id }: McpSeen): ToolPage | null {
  const result = resultOf(answer, id);
  return result === null ? null : readToolPage(result);
}

/** Reads the answer to `tools/call`. */
export function readCall({ answer, id }: McpSeen): ToolAnswer {
  return readToolAnswer(answer, id);
}

function resultOf(answer: HttpObservation, id: number): JsonObject | null {
  if (!answer.ok) return null;
  const result = rpcResponse(answer.data, id)?.['result'];
  return result === undefined ? null : jsonObject(result);
}
