/** What a root page says for machines: anchors, links, icons. */

export type HtmlLink = {
  readonly rel: readonly string[];
  readonly href: string;
  readonly type: string | null;
};

export type HtmlFacts = {
  /** `href` of anchors, as written. */
  readonly anchors: readonly string[];
  /** `<link>` elements. */
  readonly links: readonly HtmlLink[];
  readonly title: string | null;
  /** `<meta>` by lower-case name or property. */
  readonly meta: ReadonlyMap<string, string>;
};
