/** llms.txt as its format has it: an H1 first, a blockquote summary, H2 sections with link lists. */

export type MarkdownFacts = {
  /** The text of the H1 where it is the first block; null otherwise. */
  readonly leadH1: string | null;
  readonly summary: string | null;
  /** H2 sections that hold at least one list item with a link. */
  readonly linkLists: number;
  /** Targets of `[text](url)` and `<url>`; a bare address is text. */
  readonly links: readonly string[];
};
