/** Which third parties are asked, and for what payments. */
import type { LookupTurn } from './lookup-rate.ts';

export type EcosystemOptions = {
  /** Null switches a source off. */
  readonly x402scanUrl: string | null;
  readonly bazaarUrl: string | null;
  readonly ecosystemUrl: string | null;
  readonly rpcUrl: string | null;
  readonly solanaRpcUrl?: string | null | undefined;
  /** What settlements in logs are paid in, by address, and on which network (CAIP-2). */
  readonly asset: string;
  readonly network: string;
  readonly userAgent: string;
  /** Waited for before each call of the chain; left out where nothing else uses the node. */
  readonly chainTurn?: LookupTurn | undefined;
};
