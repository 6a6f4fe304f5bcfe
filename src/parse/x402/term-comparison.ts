/** A document's statement beside the live challenge's. */
export type TermComparison = {
  readonly pointer: string;
  /** Term of the document: a decimal, base units, an address. */
  readonly stated: string;
  /** Term of the challenge: base units, addresses. */
  readonly live: string;
  readonly agrees: boolean;
};
