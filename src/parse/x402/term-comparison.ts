/** A document's statement beside the live challenge's. */
export type TermComparison = {
  readonly pointer: string;
  /** As written in the document: a decimal, base units, an address. */
  readonly stated: string;
  /** As in the challenge: base units, addresses. */
  readonly live: string;
  readonly agrees: boolean;
};
