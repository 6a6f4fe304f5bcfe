/** An origin of the fault farm: what it does, and what a scan must find. */
import type { Seller } from '../fixtures/sellers/seller.ts';
import type { TestCa } from '../fixtures/tls/test-ca.ts';

export type FarmOrigin = {
  readonly name: string;
  readonly kind: FarmKind;
  /** "P1 fail silent": the cell of the report that tells of it. */
  readonly finds: string;
  start(tools: FarmTools): Promise<Seller>;
};

export type FarmKind = 'TLS' | 'wire' | 'clock' | 'redirect' | 'document' | 'value';

/** Kinds that keep a scan waiting on purpose: the others have all the time that a busy machine needs. */
export const WAITING_KINDS: ReadonlySet<FarmKind> = new Set(['TLS', 'wire', 'clock']);

export type FarmTools = {
  /** Trusted by the scanner: a hostile origin has a right certificate unless it says otherwise. */
  readonly ca: TestCa;
  /** `127.0.0.1:40123`: a service inside, which nobody may be led to. */
  readonly inside: string;
};
