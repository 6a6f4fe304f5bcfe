/** The type of the hostile origins that the tests of this folder start. */
import type { Seller } from '../fixtures/sellers/seller.ts';
import type { TestCa } from '../fixtures/tls/test-ca.ts';

export type FarmOrigin = {
  readonly name: string;
  readonly kind: FarmKind;
  /** Check, status and outcome that a scan must report, such as "P1 fail silent". */
  readonly finding: string;
  start(tools: FarmTools): Promise<Seller>;
};

export type FarmKind = 'TLS' | 'wire' | 'clock' | 'redirect' | 'document' | 'value';

/** Origins of these kinds keep a scan waiting on purpose, so tests shorten the time limits only for them. */
export const WAITING_KINDS: ReadonlySet<FarmKind> = new Set(['TLS', 'wire', 'clock']);

export type FarmTools = {
  /** The scanner trusts this CA. It issues the certificate of an origin, unless the certificate is the fault. */
  readonly ca: TestCa;
  /** Host and port of an internal service, such as `127.0.0.1:40123`. The scanner must never connect to it. */
  readonly internalHost: string;
};
