/** The MCP server over whatever transport it is connected to. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { Ajv } from 'ajv';
import type { McpHost, ToolAnswer } from './host.ts';
import { TOOLS } from './tools.ts';

const PAYMENT_META = 'x402/payment';

export type McpServerOptions = {
  readonly host: McpHost;
  readonly version: string;
  /** What a failure of a tool tells its caller; what is not the caller's business is kept back. */
  readonly describeFailure: (error: unknown) => object;
};

const ajv = new Ajv({ allErrors: false });
/** Once a process: schemas are compiled to code. */
const VALIDATE = new Map(TOOLS.map(({ name, input }) => [name, ajv.compile(input)]));

const LISTED = TOOLS.map(({ name, title, description, input, output, asksOthers }) => ({
  name,
  title,
  description,
  // Plain JSON: the library keeps marks of its own on what it makes.
  inputSchema: JSON.parse(JSON.stringify(input)),
  outputSchema: JSON.parse(JSON.stringify(output)),
  annotations: { readOnlyHint: true, openWorldHint: asksOthers },
}));

export function createMcpServer({ host, version, describeFailure }: McpServerOptions): Server {
  const server = new Server(
    { name: 'x402-scan', title: 'x402 Conformance Scanner', version },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: LISTED }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: input = {}, _meta } = params;
    const tool = TOOLS.find((one) => one.name === name);
    const validate = VALIDATE.get(name);
    if (tool === undefined || validate === undefined) {
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}.`);
    }
    if (!validate(input)) {
      const problem = ajv.errorsText(validate.errors, { dataVar: 'arguments' });
      return resultOf({ value: { error: 'invalid_request', message: problem }, isError: true });
    }
    try {
      const call = { payment: _meta?.[PAYMENT_META], gone: signal };
      return resultOf(await tool.run(host, input as never, call)); // validated above
    } catch (error) {
      return resultOf({ value: describeFailure(error), isError: true });
    }
  });
  return server;
}

function resultOf({ value, isError, meta }: ToolAnswer): CallToolResult {
  const text = JSON.stringify(value);
  return {
    content: [{ type: 'text', text }],
    structuredContent: JSON.parse(text),
    ...(isError ? { isError } : {}),
    ...(meta ? { _meta: { ...meta } } : {}),
  };
}
