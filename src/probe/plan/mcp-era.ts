/** Two forms of MCP: without sessions, and with a session that `initialize` opens. */
export type McpEra =
  | { readonly kind: 'modern'; readonly hasExtension: boolean }
  | { readonly kind: 'legacy'; readonly version: string; readonly sessionId: string | null };

/** The first revision with `server/discover`, and with extensions on each request. */
export const MODERN_VERSION = '2026-07-28';
/** The binding of specs/transports-v2/mcp.md that a client has to ask for. */
export const PAYMENT_EXTENSION = 'org.x402/payment';
