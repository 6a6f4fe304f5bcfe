/** Finds inline links and autolinks of Markdown (CommonMark 6.3, 6.5) in one pass. */

const MAX_TARGET_CHARS = 2_048;
const MAX_OPEN_BRACKETS = 1_000;
/** A target inside another nests deeper. So few targets read the same character, and the scan takes linear time. */
const MAX_NESTED_PARENTHESES = 8;
/** Closing mark of a link title, by its opening mark. */
const TITLE_MARKS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['(', ')'],
]);
const AUTOLINK = /^https?:[^\s<>]+$/i;

/** The scanner reads the lines of a text in their order. Its list `links` grows with each line. */
export function createLinkScanner() {
  const links: string[] = [];
  /** One item for each open bracket: true if it begins an image. */
  let openBrackets: boolean[] = [];

  /** Reads one line of a paragraph, and returns the number of links that end in the line. */
  function scan(line: string): number {
    const linksBefore = links.length;
    const spans = findCodeSpans(line);
    for (let at = 0; at < line.length; at += 1) {
      switch (line.charAt(at)) {
        case '\\':
          at += 1;
          break;
        case '`':
          // The loop goes on behind the span. Behind an escaped backtick no span begins.
          at = (spans.get(at) ?? at + 1) - 1;
          break;
        case '<':
          at = readAutolink(line, at, links);
          break;
        case '[':
          if (openBrackets.length < MAX_OPEN_BRACKETS)
            openBrackets.push(line.charAt(at - 1) === '!');
          break;
        case ']':
          at = closeBracket(line, at, openBrackets.pop(), links);
          break;
      }
    }
    return links.length - linksBefore;
  }

  return {
    scan,
    /** Drops open brackets. A link cannot extend over a blank line, a heading or a list mark. */
    endParagraph(): void {
      openBrackets = [];
    },
    links,
  };
}

/** Adds the link that the bracket closes. Returns the position of the last character that it read. */
function closeBracket(
  line: string,
  at: number,
  isImage: boolean | undefined,
  links: string[],
): number {
  if (isImage === undefined || line.charAt(at + 1) !== '(') return at;
  const target = readTarget(line, at + 2);
  if (target === null) return at;
  if (!isImage && target.text !== '') links.push(target.text);
  return target.last;
}

/** Adds the autolink that begins at `at`. Returns the position of its last character; `at` if none begins there. */
function readAutolink(line: string, at: number, links: string[]): number {
  for (let end = at + 1; end < line.length && end - at <= MAX_TARGET_CHARS; end += 1) {
    const character = line.charAt(end);
    if (character === '>') {
      const target = line.slice(at + 1, end);
      if (!AUTOLINK.test(target)) return at;
      links.push(target);
      return end;
    }
    if (character === '<' || isSpace(line, end)) return at;
  }
  return at;
}

/** `last` is the position of the closing parenthesis. */
type Target = { readonly text: string; readonly last: number };

/** Parses `target "title")`, the text after an opening parenthesis; null if it is malformed. */
function readTarget(line: string, from: number): Target | null {
  let at = skipSpace(line, from);
  const start = at;
  if (line.charAt(at) === '<') {
    const end = line.slice(at + 1, at + MAX_TARGET_CHARS).search(/[<>]/);
    if (end === -1 || line.charAt(at + 1 + end) !== '>') return null;
    return closeTarget(line, at + 2 + end, line.slice(at + 1, at + 1 + end));
  }
  let depth = 0;
  for (; at < line.length && at - start <= MAX_TARGET_CHARS; at += 1) {
    const character = line.charAt(at);
    if (character === '\\') at += 1;
    else if (isSpace(line, at)) return closeTarget(line, at, line.slice(start, at));
    else if (character === '(') depth += 1;
    else if (character === ')') {
      if (depth === 0) return { text: line.slice(start, at), last: at };
      depth -= 1;
    }
    if (depth > MAX_NESTED_PARENTHESES) return null;
  }
  return null;
}

/** Only a quoted title and the closing parenthesis may follow the target. */
function closeTarget(line: string, from: number, text: string): Target | null {
  const at = skipSpace(line, from);
  if (line.charAt(at) === ')') return { text, last: at };
  const closing = TITLE_MARKS.get(line.charAt(at));
  if (closing === undefined) return null;
  const end = line.slice(at + 1, at + MAX_TARGET_CHARS).indexOf(closing);
  if (end === -1) return null;
  const last = skipSpace(line, at + 2 + end);
  return line.charAt(last) === ')' ? { text, last } : null;
}

function skipSpace(line: string, from: number): number {
  let at = from;
  while (at < line.length && isSpace(line, at)) at += 1;
  return at;
}

/** In CommonMark, only ASCII blanks separate; a no-break space is part of the text. */
function isSpace(line: string, at: number): boolean {
  const code = line.charCodeAt(at);
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/**
 * A code span stands between two runs of equally many backticks. Returns the position after the closing run, by the
 * position of the opening run.
 */
function findCodeSpans(line: string): ReadonlyMap<number, number> {
  const runs = [...line.matchAll(/`+/g)];
  /** Position of the nearest run to the right, by length of the run. */
  const nearest = new Map<number, number>();
  const spans = new Map<number, number>();
  for (const run of runs.reverse()) {
    const length = run[0].length;
    const closing = nearest.get(length);
    // A run without a closing run is text.
    spans.set(run.index, (closing ?? run.index) + length);
    nearest.set(length, run.index);
  }
  return spans;
}
