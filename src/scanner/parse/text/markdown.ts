import { createLinkScanner } from './markdown-links.ts';

type MarkdownFacts = {
  /** Text of the H1 if it is the first block; null otherwise. */
  readonly leadH1: string | null;
  /** Text of the first blockquote, if it comes before the first H2. */
  readonly summary: string | null;
  /** Number of H2 sections with at least one list item that has a link. */
  readonly linkLists: number;
  /** The targets of `[text](url)` and `<url>`. An address without brackets is not a link. */
  readonly links: readonly string[];
  /**
   * The links in list items and table rows that name POST, PUT, PATCH or DELETE, and not GET. They are addresses to
   * call by that method, not pages to open.
   */
  readonly endpointLinks: readonly string[];
};

// Patterns that end in `.*` need the `s` flag. Without the flag, they stop at a line separator (U+2028) and try again
// from every blank before the separator, which takes quadratic time.

/** Matches only headings with "#". Readers of llms.txt do not look for underlined headings. */
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/s;
const LIST_ITEM = /^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]/;
const TABLE_ROW = /^[ \t]*\|/;
/** Only in upper case, because "post" is a word too. A method inside a path is not a method. */
const METHOD_NAME = /(?<![\w/.-])(?:GET|POST|PUT|PATCH|DELETE)(?!\w)/g;
const QUOTE = /^ {0,3}>[ \t]?(.*)$/s;
const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/s;

/** Visits each line once. Links in code fences and code spans are ignored. */
export function parseMarkdown(text: string): MarkdownFacts {
  const reader = new LineReader();
  for (const line of readLines(text)) reader.read(line);
  return reader.toFacts();
}

class LineReader {
  readonly #scanner = createLinkScanner();
  readonly #summary: string[] = [];
  #leadH1: string | null = null;
  #hasBlock = false;
  #isSummaryOpen = true;
  #isInListItem = false;
  #section: 'other' | 'h2' | 'h2-with-links' = 'other';
  #linkLists = 0;
  readonly #endpointLinks: string[] = [];
  /** The methods that the open list item or table row names, and the number of links before it. */
  #item: { readonly methods: Set<string>; readonly linksBefore: number } | null = null;

  /** `line` is null for a line of a code fence. */
  read(line: string | null): void {
    if (line === null || line.trim() === '') this.#readGap(line === null);
    else if (HEADING.test(line)) this.#readHeading(line);
    else this.#readText(line);
  }

  toFacts(): MarkdownFacts {
    this.#endItem();
    const summary = this.#summary.join(' ').trim();
    return {
      leadH1: this.#leadH1,
      summary: summary === '' ? null : summary,
      linkLists: this.#linkLists,
      links: this.#scanner.links,
      endpointLinks: this.#endpointLinks,
    };
  }

  #readGap(isFence: boolean): void {
    this.#scanner.endParagraph();
    this.#hasBlock ||= isFence;
    this.#isInListItem &&= isFence;
    if (!isFence) this.#endItem();
    if (this.#summary.length > 0) this.#isSummaryOpen = false;
  }

  #readHeading(line: string): void {
    const [, marks = '', rawTitle = ''] = HEADING.exec(line) ?? [];
    const title = toHeadingText(rawTitle);
    if (!this.#hasBlock && marks === '#' && title !== '') this.#leadH1 = title;
    if (marks.length <= 2) this.#section = marks === '##' ? 'h2' : 'other';
    if (marks === '##' || this.#summary.length > 0) this.#isSummaryOpen = false;
    this.#hasBlock = true;
    this.#isInListItem = false;
    this.#endItem();
    this.#scanner.endParagraph();
    this.#scanner.scan(line);
    this.#scanner.endParagraph();
  }

  #readText(line: string): void {
    this.#hasBlock = true;
    const quote = QUOTE.exec(line);
    if (quote !== null && this.#isSummaryOpen) this.#summary.push((quote[1] ?? '').trim());
    else if (this.#summary.length > 0) this.#isSummaryOpen = false;
    if (LIST_ITEM.test(line)) {
      this.#isInListItem = true;
      this.#scanner.endParagraph();
      this.#beginItem();
    } else if (TABLE_ROW.test(line)) this.#beginItem();
    for (const [method] of line.matchAll(METHOD_NAME)) this.#item?.methods.add(method);
    const linkCount = this.#scanner.scan(line);
    if (linkCount > 0 && this.#isInListItem && this.#section === 'h2') {
      this.#section = 'h2-with-links';
      this.#linkLists += 1;
    }
  }

  #beginItem(): void {
    this.#endItem();
    this.#item = { methods: new Set(), linksBefore: this.#scanner.links.length };
  }

  #endItem(): void {
    if (this.#item === null) return;
    const { methods, linksBefore } = this.#item;
    const isCalled = methods.size > 0 && !methods.has('GET');
    if (isCalled) this.#endpointLinks.push(...this.#scanner.links.slice(linksBefore));
    this.#item = null;
  }
}

/** Yields each line of a text. Yields null in place of a line of a code fence, also of its marks. */
function* readLines(text: string): Generator<string | null> {
  let fence: string | null = null;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    const nextFence: string | null = findFenceAfter(line, fence);
    yield fence === null && nextFence === null ? line : null;
    fence = nextFence;
  }
}

/** Returns the opening marks of the fence around the next line; null if the next line is in no fence. */
function findFenceAfter(line: string, fence: string | null): string | null {
  const [, marks = '', info = ''] = FENCE.exec(line) ?? [];
  if (fence !== null) return marks.startsWith(fence) && info.trim() === '' ? null : fence;
  // Backticks are inline code if another backtick follows on the line.
  const isOpening = marks !== '' && !(marks.startsWith('`') && info.includes('`'));
  return isOpening ? marks : null;
}

/** Drops the closing marks of "Title ##", but keeps the mark of "C#". */
function toHeadingText(rawTitle: string): string {
  const text = rawTitle.trim();
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === '#') end -= 1;
  if (end === text.length) return text;
  return end === 0 || /[ \t]/.test(text.charAt(end - 1)) ? text.slice(0, end).trim() : text;
}
