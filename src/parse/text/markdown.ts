import { createLinkScanner } from './markdown-links.ts';

export type MarkdownFacts = {
  /** Text of the H1 when it is the first block; null otherwise. */
  readonly leadH1: string | null;
  readonly summary: string | null;
  /** Number of H2 sections with at least one list item that has a link. */
  readonly linkLists: number;
  /** Targets of `[text](url)` and `<url>`; a bare address is text. */
  readonly links: readonly string[];
};

/**
 * Patterns that end in `.*` need the `s` flag. Without it, a line separator (U+2028) makes them retry
 * from every blank before it, which takes quadratic time.
 */

/** ATX headings only, because readers of llms.txt look for "# ", not for underlines. */
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/s;
const LIST_ITEM = /^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]/;
const QUOTE = /^ {0,3}>[ \t]?(.*)$/s;
const FENCE = /^[ \t]*(`{3,}|~{3,})(.*)$/s;

/** Visits each line once. Links in code fences and code spans are ignored. */
export function parseMarkdown(text: string): MarkdownFacts {
  const reader = new Reader();
  for (const line of linesOutsideFences(text)) reader.read(line);
  return reader.facts();
}

class Reader {
  readonly #scanner = createLinkScanner();
  readonly #summary: string[] = [];
  #leadH1: string | null = null;
  #sawBlock = false;
  /** The summary is the first blockquote before the first H2. */
  #summaryIsOpen = true;
  #inListItem = false;
  #section: 'other' | 'h2' | 'h2-with-links' = 'other';
  #linkLists = 0;

  /** `line` is null for a line of a code fence. */
  read(line: string | null): void {
    if (line === null || line.trim() === '') this.#gap(line === null);
    else if (HEADING.test(line)) this.#heading(line);
    else this.#text(line);
  }

  facts(): MarkdownFacts {
    const summary = this.#summary.join(' ').trim();
    return {
      leadH1: this.#leadH1,
      summary: summary === '' ? null : summary,
      linkLists: this.#linkLists,
      links: this.#scanner.links,
    };
  }

  #gap(isFence: boolean): void {
    this.#scanner.endParagraph();
    this.#sawBlock ||= isFence;
    this.#inListItem &&= isFence;
    if (this.#summary.length > 0) this.#summaryIsOpen = false;
  }

  #heading(line: string): void {
    const [, marks = '', written = ''] = HEADING.exec(line) ?? [];
    const title = headingText(written);
    if (!this.#sawBlock && marks === '#' && title !== '') this.#leadH1 = title;
    if (marks.length <= 2) this.#section = marks === '##' ? 'h2' : 'other';
    if (marks === '##' || this.#summary.length > 0) this.#summaryIsOpen = false;
    this.#sawBlock = true;
    this.#inListItem = false;
    this.#scanner.endParagraph();
    this.#scanner.scan(line);
    this.#scanner.endParagraph();
  }

  #text(line: string): void {
    this.#sawBlock = true;
    const quote = QUOTE.exec(line);
    if (quote !== null && this.#summaryIsOpen) this.#summary.push((quote[1] ?? '').trim());
    else if (this.#summary.length > 0) this.#summaryIsOpen = false;
    if (LIST_ITEM.test(line)) {
      this.#inListItem = true;
      this.#scanner.endParagraph();
    }
    const link = this.#scanner.scan(line);
    if (link > 0 && this.#inListItem && this.#section === 'h2') {
      this.#section = 'h2-with-links';
      this.#linkLists += 1;
    }
  }
}

/** Yields null for each line of a code fence, its marks included. */
function* linesOutsideFences(text: string): Generator<string | null> {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  let fence: string | null = null;
  for (const line of body.split(/\r\n|\n|\r/)) {
    const next: string | null = fenceAfter(line, fence);
    yield fence === null && next === null ? line : null;
    fence = next;
  }
}

/** Returns the marks of the fence around the next line; null outside. */
function fenceAfter(line: string, fence: string | null): string | null {
  const [, marks = '', rest = ''] = FENCE.exec(line) ?? [];
  if (fence !== null) return marks.startsWith(fence) && rest.trim() === '' ? null : fence;
  // A backtick after the marks makes them inline code.
  const opens = marks !== '' && !(marks.startsWith('`') && rest.includes('`'));
  return opens ? marks : null;
}

/** A heading's closing marks are dropped ("Title ##"); "C#" keeps its own. */
function headingText(written: string): string {
  const text = written.trim();
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === '#') end -= 1;
  if (end === text.length) return text;
  return end === 0 || /[ \t]/.test(text.charAt(end - 1)) ? text.slice(0, end).trim() : text;
}
