import { Tokenizer } from 'htmlparser2';

type HtmlLink = {
  readonly rel: readonly string[];
  readonly href: string;
  readonly type: string | null;
};

type HtmlFacts = {
  /** The `href` of each anchor, as the page has it. */
  readonly anchors: readonly string[];
  readonly links: readonly HtmlLink[];
  readonly title: string | null;
  /** The contents of `<meta>` elements, by name or property in lower case. */
  readonly meta: ReadonlyMap<string, string>;
};

const MAX_ELEMENTS = 5_000;
const MAX_VALUE_CHARS = 4_096;
const MAX_TITLE_CHARS = 1_000;
const ELEMENTS_TO_READ = new Set(['a', 'link', 'meta']);

/**
 * Reads tags in sequence and builds no tree, because no fact here depends on nesting. The library's tree builder
 * takes time in proportion to the square of the depth.
 */
export function parseHtml(text: string): HtmlFacts {
  const reader = new TagReader(text);
  reader.read();
  const { anchors, links, meta } = reader;
  return { anchors, links, meta, title: reader.title };
}

class TagReader {
  readonly anchors: string[] = [];
  readonly links: HtmlLink[] = [];
  readonly meta = new Map<string, string>();
  readonly #text: string;
  readonly #attributes = new Map<string, string>();
  #element = '';
  #attribute = '';
  #value = '';
  #isInTitle = false;
  #title: string | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  get title(): string | null {
    const title = this.#title?.replace(/\s+/g, ' ').trim() ?? '';
    return title === '' ? null : title;
  }

  read(): void {
    const ignore = () => {};
    const tokenizer = new Tokenizer(
      {},
      {
        onopentagname: (start, end) => this.#startTag(start, end),
        onattribname: (start, end) => {
          const isRead = ELEMENTS_TO_READ.has(this.#element);
          this.#attribute = isRead ? this.#slice(start, end).toLowerCase() : '';
          this.#value = '';
        },
        onattribdata: (start, end) => this.#addToValue(this.#slice(start, end)),
        onattribentity: (codePoint) => this.#addToValue(String.fromCodePoint(codePoint)),
        onattribend: () => this.#endAttribute(),
        onopentagend: () => this.#finishTag(),
        onselfclosingtag: () => this.#finishTag(),
        ontext: (start, end) => this.#addToTitle(this.#slice(start, end)),
        ontextentity: (codePoint) => this.#addToTitle(String.fromCodePoint(codePoint)),
        onclosetag: () => {
          this.#element = '';
          this.#isInTitle = false;
        },
        oncdata: ignore,
        oncomment: ignore,
        ondeclaration: ignore,
        onend: ignore,
        onprocessinginstruction: ignore,
      },
    );
    tokenizer.write(this.#text);
    tokenizer.end();
  }

  #slice(start: number, end: number): string {
    return this.#text.slice(start, Math.min(end, start + MAX_VALUE_CHARS));
  }

  #startTag(start: number, end: number): void {
    this.#element = this.#slice(start, end).toLowerCase();
    this.#attributes.clear();
    // The first title is the title of the page. SVG images in the page may have titles too.
    this.#isInTitle = this.#element === 'title' && this.#title === null;
    if (this.#isInTitle) this.#title = '';
  }

  #addToValue(part: string): void {
    if (this.#attribute === '' || this.#value.length > MAX_VALUE_CHARS) return;
    this.#value += part;
  }

  /** If an element repeats an attribute, its first value counts (HTML standard). */
  #endAttribute(): void {
    if (this.#attribute === '' || this.#attributes.has(this.#attribute)) return;
    this.#attributes.set(this.#attribute, this.#value);
  }

  #addToTitle(part: string): void {
    if (!this.#isInTitle || this.#title === null) return;
    if (this.#title.length < MAX_TITLE_CHARS) this.#title += part;
  }

  #finishTag(): void {
    if (this.#element === 'a') this.#addAnchor();
    else if (this.#element === 'link') this.#addLink();
    else if (this.#element === 'meta') this.#addMeta();
  }

  #addAnchor(): void {
    const href = this.#attributes.get('href');
    if (href !== undefined && this.anchors.length < MAX_ELEMENTS) this.anchors.push(href);
  }

  #addLink(): void {
    const href = this.#attributes.get('href');
    if (href === undefined || this.links.length >= MAX_ELEMENTS) return;
    const rel = (this.#attributes.get('rel') ?? '').toLowerCase().split(/\s+/);
    const type = this.#attributes.get('type') ?? null;
    this.links.push({ rel: rel.filter((token) => token !== ''), href, type });
  }

  #addMeta(): void {
    const name = this.#attributes.get('name') ?? this.#attributes.get('property');
    const content = this.#attributes.get('content');
    if (name === undefined || content === undefined || this.meta.size >= MAX_ELEMENTS) return;
    const key = name.trim().toLowerCase();
    if (!this.meta.has(key)) this.meta.set(key, content);
  }
}
