/** Paths at which MCP servers describe themselves: server cards, the manifest of old, the registry's file. */
export const MCP_DOCUMENTS = [
  '/.well-known/mcp/server-card.json',
  '/.well-known/mcp.json',
  '/.well-known/mcp',
  '/server.json',
] as const;
