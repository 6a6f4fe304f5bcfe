/**
 * Probes the paid tools of an MCP endpoint if the command line asks for it: finds the endpoint, lists its
 * tools, and calls each tool that is declared paid and read-only once. It sends no payment. The hosted
 * service never calls tools.
 */

import type { Origin } from '../guard/origin.ts';
import type { HttpObservation, PathAnswer, ResourceObservation } from '../model/observations.ts';
import type { PaidTool, ToolPage } from '../parse/mcp-tools/tool-list.ts';
import { headerValue } from '../parse/text/http-header.ts';
import { cleanText, quoteText } from '../parse/text/text.ts';
import { ACCEPT_JSON, type RequestCache } from '../probe/client/request-cache.ts';
import {
  createMcpMessages,
  type EndpointClues,
  MCP_DOCUMENTS,
  type McpEra,
  type McpMessages,
  type SentMessage,
} from '../probe/plan/read-mcp.ts';
import { type InputOf, runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';

/** The options of `--mcp`. */
export type McpOptions = {
  /** Path of the endpoint. If null, the origin's documents are searched for it. */
  readonly path: string | null;
};

export type ToolObservations = {
  readonly resources: readonly ResourceObservation[];
  /** Number of paid tools, called or not. */
  readonly declared: number;
  /** Number of paid tools that are not called, because they are not declared read-only. */
  readonly uncalled: number;
  /** One line for each place that was searched, for evidence. */
  readonly looked: readonly string[];
  /** Path of the endpoint that answered. The path itself sells nothing. */
  readonly endpoint: string | null;
};

type Session = {
  readonly endpoint: string;
  readonly era: McpEra;
  readonly messages: McpMessages;
};
type ToolClues = EndpointClues['observations'];
type ToolList = Omit<ToolPage, 'nextCursor'>;

type Readers = typeof import('../probe/plan/read-mcp.ts');
const READERS: WorkModule<Readers> = new URL('../probe/plan/read-mcp.ts', import.meta.url);
const KIB = 1024;
const DOCUMENT_CAP_BYTES = 64 * KIB;
const LIST_CAP_BYTES = 1024 * KIB;
const CALL_CAP_BYTES = 64 * KIB;
/** The same limit as for resources over HTTP. */
const MAX_CALLED_TOOLS = 6;
const MAX_LIST_PAGES = 5;
const MAX_SHOWN_CHARS = 80;
const ACCEPT_RPC = 'application/json, text/event-stream';
const UNREADABLE = 'its answer could not be read within limits';

export class ToolObserver {
  readonly #origin: Origin;
  readonly #cache: RequestCache;
  readonly #work: ScanWork;
  readonly #looked: string[] = [];
  /** Endpoints that ask for an HTTP payment before any MCP exchange. */
  readonly #paidEndpoints: ResourceObservation[] = [];

  constructor(origin: Origin, cache: RequestCache, work: ScanWork) {
    this.#origin = origin;
    this.#cache = cache;
    this.#work = work;
  }

  async observe(observations: ToolClues, { path }: McpOptions): Promise<ToolObservations> {
    const endpoints = path === null ? await this.#findEndpoints(observations) : [path];
    for (const endpoint of endpoints) {
      const session = await this.#openSession(endpoint);
      if (session === null) continue;
      const { callable, uncalledCount, listedCount } = await this.#listTools(session);
      const paid = callable.length + uncalledCount;
      this.#noteResult(endpoint, `${listedCount} tools, ${paid} declared paid`);
      const chosen = callable.slice(0, MAX_CALLED_TOOLS);
      const resources = await Promise.all(chosen.map((tool) => this.#callTool(session, tool)));
      return { resources, declared: paid, uncalled: uncalledCount, looked: this.#looked, endpoint };
    }
    const resources = this.#paidEndpoints;
    const declared = resources.length;
    return { resources, declared, uncalled: 0, looked: this.#looked, endpoint: null };
  }

  #noteResult(endpoint: string, result: string): void {
    this.#looked.push(`MCP at ${cleanText(endpoint, MAX_SHOWN_CHARS)}: ${result}`);
  }

  async #findEndpoints(all: ToolClues): Promise<readonly string[]> {
    const documents = await Promise.all(
      MCP_DOCUMENTS.map(async (path): Promise<PathAnswer> => {
        const get = { method: 'GET', path, accept: ACCEPT_JSON, redirects: 'same-origin' } as const;
        return { path, answer: await this.#cache.ask({ ...get, capBytes: DOCUMENT_CAP_BYTES }) };
      }),
    );
    const { origin, soft404, agentCard, agentJson, manifest, manifestJson, llmsTxt } = all;
    // Only these observations are sent to the worker.
    const observations = { origin, soft404, agentCard, agentJson, manifest, manifestJson, llmsTxt };
    return (await this.#read('findEndpoints', { observations, documents })) ?? [];
  }

  /** Tries the current revision first, then the older one, in the order that MCP prescribes. */
  async #openSession(endpoint: string): Promise<Session | null> {
    const messages = createMcpMessages();
    const discovery = await this.#exchange(endpoint, messages.discover(), 'readDiscovery');
    if (discovery.era) return { endpoint, era: discovery.era, messages };
    // `initialize` would not help if the endpoint did not answer, does not exist or asks for a payment.
    const { answer, era } = isFinalAnswer(discovery.answer)
      ? discovery
      : await this.#exchange(endpoint, messages.initialize(), 'readInitialization');
    if (era === null) {
      this.#noteResult(endpoint, describeNoServer(answer));
      if (answer.ok && answer.data.status === 402) {
        this.#paidEndpoints.push(this.#toResource(endpoint, answer));
      }
      return null;
    }
    await this.#post(endpoint, messages.initialized(era), DOCUMENT_CAP_BYTES);
    return { endpoint, era, messages };
  }

  async #listTools({ endpoint, era, messages }: Session): Promise<ToolList> {
    const pages: ToolPage[] = [];
    let cursor: string | null = null;
    do {
      const message = messages.listTools(era, cursor);
      const response = await this.#post(endpoint, message, LIST_CAP_BYTES);
      const page: ToolPage | null = await this.#read('readTools', response);
      if (page === null) {
        this.#noteResult(endpoint, `tools/list: ${UNREADABLE}`);
        break;
      }
      pages.push(page);
      cursor = page.nextCursor;
    } while (cursor !== null && pages.length < MAX_LIST_PAGES);
    return {
      callable: pages.flatMap(({ callable }) => callable),
      uncalledCount: pages.reduce((sum, page) => sum + page.uncalledCount, 0),
      listedCount: pages.reduce((sum, page) => sum + page.listedCount, 0),
    };
  }

  async #callTool(
    { endpoint, era, messages }: Session,
    tool: PaidTool,
  ): Promise<ResourceObservation> {
    const message = messages.callTool(era, tool.name, tool.arguments);
    const response = await this.#post(endpoint, message, CALL_CAP_BYTES);
    const { answer, facts } = (await this.#read('readCall', response)) ?? {
      answer: { ok: false, reason: 'malformed', detail: UNREADABLE, ms: response.answer.ms },
      facts: { binding: null, isError: null },
    };
    const extension = era.kind === 'legacy' ? 'nobody' : era.hasExtension ? 'both' : 'client';
    return {
      ...this.#toResource(`${endpoint}#${encodeURIComponent(tool.name)}`, answer),
      tool: { name: tool.name, endpoint, ...facts, extension, price: tool.price },
    };
  }

  #toResource(path: string, answer: HttpObservation): ResourceObservation {
    return {
      url: this.#origin.url + path,
      path,
      template: path,
      method: 'POST',
      sources: ['mcp'],
      declaredPaid: true,
      probes: [{ method: 'POST', number: 1, answer }],
    };
  }

  async #exchange(
    endpoint: string,
    message: SentMessage,
    reader: 'readDiscovery' | 'readInitialization',
  ): Promise<{ readonly answer: HttpObservation; readonly era: McpEra | null }> {
    const response = await this.#post(endpoint, message, DOCUMENT_CAP_BYTES);
    return { answer: response.answer, era: await this.#read(reader, response) };
  }

  /** Returns null if the answer cannot be read within limits. */
  async #read<Name extends keyof Readers>(name: Name, input: InputOf<Readers[Name]>) {
    const result = await runOnWorker(this.#work, 'origin', READERS, name, input);
    return result.ok ? result.output : null;
  }

  async #post(endpoint: string, { id, body, headers }: SentMessage, capBytes: number) {
    const answer = await this.#cache.ask({
      method: 'POST',
      path: endpoint,
      rpc: { body, headers },
      capBytes,
      accept: ACCEPT_RPC,
      redirects: 'none',
    });
    return { answer, id };
  }
}

/** True for an answer that no other MCP message to the endpoint would change. */
function isFinalAnswer(answer: HttpObservation): boolean {
  if (!answer.ok || answer.data.status === 402) return true;
  // Some older servers report a missing session by a JSON-RPC error with status 404.
  return answer.data.status === 404 && !answer.data.body.includes('"jsonrpc"');
}

/** Describes an answer that is not MCP. Redirects are not followed, so the caller has to name the target. */
function describeNoServer(answer: HttpObservation): string {
  if (!answer.ok) return answer.reason;
  const { status } = answer.data;
  const location = status >= 300 && status < 400 ? headerValue(answer.data, 'location') : null;
  const to =
    location === null ? '' : ` to ${quoteText(location, MAX_SHOWN_CHARS)}, which --mcp may name`;
  return `${status}${to}, no MCP server`;
}
