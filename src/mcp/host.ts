/** The interface behind the tools. The command line implements it by the engine, the service by the parts of its routes. */
import type { Explanation } from '../engine/catalog/explain.ts';
import type { Preflight } from '../preflight/result.ts';

export const PAYMENT_META = 'x402/payment';

/** The parts of a call beside its arguments. */
export type ToolCall = {
  /** `_meta["x402/payment"]`; undefined where the call carries no payment. */
  readonly payment: unknown;
  /** Aborted when the caller disconnects. */
  readonly disconnect: AbortSignal;
};

/** A JSON object; sent as structured content and as the same JSON in text. */
export type ToolAnswer = {
  readonly value: object;
  readonly isError?: boolean;
  readonly meta?: Readonly<Record<string, unknown>>;
};

export type DirectorySearch = {
  readonly q?: string;
  readonly category?: string;
  readonly sort?: 'recent' | 'grade';
  readonly page?: number;
};

export type McpHost = {
  scan(url: string, call: ToolCall): Promise<ToolAnswer>;
  /** Throws where no report is stored. */
  report(url: string): Promise<object>;
  /** Throws for an unknown id. */
  explain(id: string): Promise<Explanation>;
  preflight(url: string, method: string, maxPrice: string | null): Promise<Preflight>;
  validate(challenge: object, url: string | null): Promise<Preflight>;
  search(query: DirectorySearch): Promise<object>;
};
