/**
 * Probes the paid tools of an MCP endpoint when the command line asks for it: finds the endpoint, lists
 * its tools, and calls each one that is declared paid and read-only once, without a payment. The hosted
 * service never does this.
 */

import type { Origin } from '../guard/origin.ts';
import type { HttpObservation, PathAnswer, ResourceObservation } from '../model/observations.ts';
import type { PaidTool, ToolPage } from '../parse/mcp-tools/tool-list.ts';
import { headerValue } from '../parse/text/http-header.ts';
import { cleanText, quoteText } from '../parse/text/text.ts';
import type { Ask, RequestCache } from '../probe/client/request-cache.ts';
import {
  createMcpMessages,
  type EndpointClues,
  MCP_DOCUMENTS,
  type McpEra,
  type McpMessages,
  type SentMessage,
} from '../probe/plan/read-mcp.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';

/** The options of `--mcp`. */
export type McpOptions = {
  /** Path of the endpoint from the caller; null searches the documents. */
  readonly path: string | null;
};

export type ToolObservations = {
  readonly resources: readonly ResourceObservation[];
  /** Number of paid tools, called or not. */
  readonly declared: number;
  readonly uncalled: number;
  /** Places that were searched for the endpoint, and its tool list. */
  readonly looked: readonly string[];
  /** Path of the endpoint that answered; it sells nothing itself. */
  readonly endpoint: string | null;
};

type Session = {
  readonly endpoint: string;
  readonly era: McpEra;
  readonly messages: McpMessages;
};
type ToolList = Omit<ToolPage, 'nextCursor'>;

const READ_MODULE: WorkModule<typeof import('../probe/plan/read-mcp.ts')> = new URL(
  '../probe/plan/read-mcp.ts',
  import.meta.url,
);
const KIB = 1024;
const DOCUMENT_CAP_BYTES = 64 * KIB;
const LIST_CAP_BYTES = 1024 * KIB;
const CALL_CAP_BYTES = 64 * KIB;
/** Tools called; the same limit as for resources over HTTP. */
const MAX_CALLED = 6;
const MAX_PAGES = 5;
const MAX_SHOWN = 80;
const ACCEPT_JSON = 'application/json, */*;q=0.5';
const ACCEPT_RPC = 'application/json, text/event-stream';
const UNREAD = 'its answer could not be read within limits';

export class ToolObserver {
  readonly #origin: Origin;
  readonly #cache: RequestCache;
  readonly #work: ScanWork;
  readonly #looked: string[] = [];
  /** Endpoints that ask for an HTTP payment before any MCP exchange. */
  readonly #gated: ResourceObservation[] = [];

  constructor(origin: Origin, cache: RequestCache, work: ScanWork) {
    this.#origin = origin;
    this.#cache = cache;
    this.#work = work;
  }

  async observe(first: EndpointClues['first'], { path }: McpOptions): Promise<ToolObservations> {
    const endpoints = path === null ? await this.#findEndpoints(first) : [path];
    for (const endpoint of endpoints) {
      const session = await this.#open(endpoint);
      if (session === null) continue;
      const { callable, uncalled, listed } = await this.#list(session);
      const paid = callable.length + uncalled;
      this.#looked.push(
        `MCP at ${cleanText(endpoint, MAX_SHOWN)}: ${listed} tools, ${paid} declared paid`,
      );
      const chosen = callable.slice(0, MAX_CALLED);
      const resources = await Promise.all(chosen.map((tool) => this.#call(session, tool)));
      return { resources, declared: paid, uncalled, looked: this.#looked, endpoint };
    }
    const resources = this.#gated;
    const declared = resources.length;
    return { resources, declared, uncalled: 0, looked: this.#looked, endpoint: null };
  }

  async #findEndpoints(first: EndpointClues['first']): Promise<readonly string[]> {
    const documents = await Promise.all(
      MCP_DOCUMENTS.map(
        async (path): Promise<PathAnswer> => ({
          path,
          answer: await this.#cache.ask({
            method: 'GET',
            path,
            capBytes: DOCUMENT_CAP_BYTES,
            accept: ACCEPT_JSON,
            redirects: 'same-origin',
          }),
        }),
      ),
    );
    const { origin, soft404, agentCard, agentJson, manifest, manifestJson, llmsTxt } = first;
    const clues = { origin, soft404, agentCard, agentJson, manifest, manifestJson, llmsTxt };
    const read = await workOn(this.#work, 'origin', READ_MODULE, 'findEndpoints', {
      first: clues,
      documents,
    });
    return read.ok ? read.output : [];
  }

  /** Tries the current protocol first, then the earlier one: the order that MCP prescribes. */
  async #open(endpoint: string): Promise<Session | null> {
    const messages = createMcpMessages();
    const discovered = await this.#exchange(endpoint, messages.discover(), 'readDiscovery');
    if (discovered.output) return { endpoint, era: discovered.output, messages };
    // A second request would not help when the first found no page or no answer.
    const { answer } = discovered;
    const opened = isHopeless(answer)
      ? discovered
      : await this.#exchange(endpoint, messages.initialize(), 'readInitialization');
    const era = opened.output ?? null;
    if (era === null) {
      this.#looked.push(`MCP at ${cleanText(endpoint, MAX_SHOWN)}: ${describe(opened.answer)}`);
      if (opened.answer.ok && opened.answer.data.status === 402) {
        this.#gated.push(this.#resource(endpoint, opened.answer));
      }
      return null;
    }
    await this.#post(endpoint, messages.initialized(era), DOCUMENT_CAP_BYTES);
    return { endpoint, era, messages };
  }

  async #list({ endpoint, era, messages }: Session): Promise<ToolList> {
    const pages: ToolPage[] = [];
    let cursor: string | null = null;
    do {
      const message = messages.listTools(era, cursor);
      const page: ToolPage | null = await this.#page(endpoint, message);
      if (page === null) {
        this.#looked.push(`MCP at ${cleanText(endpoint, MAX_SHOWN)}: tools/list: ${UNREAD}`);
        break;
      }
      pages.push(page);
      cursor = page.nextCursor;
    } while (cursor !== null && pages.length < MAX_PAGES);
    return {
      callable: pages.flatMap(({ callable }) => callable),
      uncalled: pages.reduce((sum, page) => sum + page.uncalled, 0),
      listed: pages.reduce((sum, page) => sum + page.listed, 0),
    };
  }

  async #page(endpoint: string, message: SentMessage): Promise<ToolPage | null> {
    const answer = await this.#post(endpoint, message, LIST_CAP_BYTES);
    const response = { answer, id: message.id };
    const read = await workOn(this.#work, 'origin', READ_MODULE, 'readTools', response);
    return read.ok ? read.output : null;
  }

  async #call({ endpoint, era, messages }: Session, tool: PaidTool): Promise<ResourceObservation> {
    const message = messages.callTool(era, tool.name, tool.arguments);
    const sent = await this.#post(endpoint, message, CALL_CAP_BYTES);
    const response = { answer: sent, id: message.id };
    const read = await workOn(this.#work, 'origin', READ_MODULE, 'readCall', response);
    const { answer, facts } = read.ok
      ? read.output
      : { answer: unread(sent), facts: { binding: null, isError: null } };
    const extension = era.kind === 'legacy' ? 'nobody' : era.hasExtension ? 'both' : 'client';
    return {
      ...this.#resource(`${endpoint}#${encodeURIComponent(tool.name)}`, answer),
      tool: { name: tool.name, endpoint, ...facts, extension, price: tool.price },
    };
  }

  #resource(path: string, answer: HttpObservation): ResourceObservation {
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
  ): Promise<{ readonly answer: HttpObservation; readonly output: McpEra | null }> {
    const answer = await this.#post(endpoint, message, DOCUMENT_CAP_BYTES);
    const response = { answer, id: message.id };
    const read = await workOn(this.#work, 'origin', READ_MODULE, reader, response);
    return { answer, output: read.ok ? read.output : null };
  }

  #post(endpoint: string, { body, headers }: SentMessage, capBytes: number) {
    const ask: Ask = {
      method: 'POST',
      path: endpoint,
      rpc: { body, headers },
      capBytes,
      accept: ACCEPT_RPC,
      redirects: 'none',
    };
    return this.#cache.ask(ask);
  }
}

function isHopeless(answer: HttpObservation): boolean {
  if (!answer.ok || answer.data.status === 402) return true;
  // Some older servers report a missing session by a JSON-RPC error with status 404.
  return answer.data.status === 404 && !answer.data.body.includes('"jsonrpc"');
}

/** POST redirects are not followed; the caller has to name their target. */
function describe(answer: HttpObservation): string {
  if (!answer.ok) return answer.reason;
  const { status } = answer.data;
  const location = status >= 300 && status < 400 ? headerValue(answer.data, 'location') : null;
  const to = location === null ? '' : ` to ${quoteText(location, MAX_SHOWN)}, which --mcp may name`;
  return `${status}${to}, no MCP server`;
}

function unread({ ms }: HttpObservation): HttpObservation {
  return { ok: false, reason: 'malformed', detail: UNREAD, ms };
}
