import type { AnswerReader } from '../answers/answer-reader.ts';
import type { LookupTurn } from './lookup-rate.ts';

export type EcosystemOptions = {
  /** Null disables a source. */
  readonly x402scanUrl: string | null;
  readonly bazaarUrl: string | null;
  readonly ecosystemUrl: string | null;
  readonly rpcUrl: string | null;
  readonly solanaRpcUrl?: string | null | undefined;
  /** The asset's address and network (CAIP-2) in settlement logs. */
  readonly asset: string;
  readonly network: string;
  readonly userAgent: string;
  /** Awaited before each call to the chain; absent when nothing else uses the node. */
  readonly chainTurn?: LookupTurn | undefined;
  /** Default: one of its own. */
  readonly answers?: AnswerReader | undefined;
};
