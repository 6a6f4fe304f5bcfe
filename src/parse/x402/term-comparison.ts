/** One statement of a document that the live challenge could be held against. */
export type TermComparison = {
  readonly pointer: string;
  /** As the document states it: a decimal, base units, an address. */
  readonly stated: string;
  /** As the challenge has it: base units, addresses. */
  readonly live: string;
  readonly agrees: boolean;
};
