/** A linear pass over JSON text: RFC 8259's grammar, depth and nodes, without recursion. */

export const MAX_JSON_DEPTH = 64;
export const MAX_JSON_NODES = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SIMPLE_ESCAPES = '"\\/bfnrt';
const HEX4 = /^[0-9a-fA-F]{4}$/;
const LITERALS = ['true', 'false', 'null'];

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'comma-or-end' | 'nothing';

/** Null where the text is JSON within the limits; else why not, in words fit for evidence. */
export function scanJson(text: string): string | null {
  return new Scan(text).run();
}

class Scan {
  readonly #text: string;
  #at = 0;
  #nodes = 0;
  /** The closing brackets that are due, innermost last. */
  readonly #open: ('}' | ']')[] = [];
  #expected: Expected = 'value';

  constructor(text: string) {
    this.#text = text;
  }

  run(): string | null {
    this.#skipSpace();
    if (this.#text.length === this.#at) return 'empty';
    while (this.#at < this.#text.length) {
      if (!this.#step()) return this.#refusal();
      if (this.#open.length > MAX_JSON_DEPTH) return `deeper than ${MAX_JSON_DEPTH}`;
      if (this.#nodes > MAX_JSON_NODES) return `over ${MAX_JSON_NODES} nodes`;
      this.#skipSpace();
    }
    return this.#expected === 'nothing' ? null : this.#refusal();
  }

  #refusal(): string {
    if (this.#at < this.#text.length) return `not JSON at character ${this.#at + 1}`;
    return `not JSON: it breaks off after ${this.#text.length} characters`;
  }

  /** Reads one token; false where it is not the one that is due. */
  #step(): boolean {
    const character = this.#text.charAt(this.#at);
    switch (this.#expected) {
      case 'nothing':
        return false;
      case 'comma-or-end':
        return character === ',' ? this.#comma() : this.#close(character);
      case 'key-or-end':
        return character === '}' ? this.#close(character) : this.#key();
      case 'key':
        return this.#key();
      case 'value-or-end':
        return character === ']' ? this.#close(character) : this.#value(character);
      case 'value':
        return this.#value(character);
    }
  }

  #comma(): boolean {
    this.#at += 1;
    this.#expected = this.#open.at(-1) === '}' ? 'key' : 'value';
    return true;
  }

  #close(character: string): boolean {
    if (this.#open.at(-1) !== character) return false;
    this.#open.pop();
    this.#at += 1;
    this.#expected = this.#afterValue();
    return true;
  }

  #key(): boolean {
    if (this.#text.charAt(this.#at) !== '"' || !this.#string()) return false;
    this.#skipSpace();
    if (this.#text.charAt(this.#at) !== ':') return false;
    this.#at += 1;
    this.#expected = 'value';
    return true;
  }

  #value(character: string): boolean {
    this.#nodes += 1;
    if (character === '{' || character === '[') {
      this.#open.push(character === '{' ? '}' : ']');
      this.#at += 1;
      this.#expected = character === '{' ? 'key-or-end' : 'value-or-end';
      return true;
    }
    const read = character === '"' ? this.#string() : this.#literal() || this.#number();
    this.#expected = this.#afterValue();
    return read;
  }

  #afterValue(): Expected {
    return this.#open.length === 0 ? 'nothing' : 'comma-or-end';
  }

  /** Scans by hand: a pattern's backtracking stack would grow with a string of two million characters. */
  #string(): boolean {
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) {
        this.#at += 1;
        return true;
      }
      if (code < 0x20) return false;
      if (code === BACKSLASH && !this.#escape()) return false;
    }
    return false;
  }

  /** Leaves the position on the last character of the escape. */
  #escape(): boolean {
    const escaped = this.#text.charAt(this.#at + 1);
    const length = escaped === 'u' ? 5 : 1;
    const valid =
      escaped === 'u'
        ? HEX4.test(this.#text.slice(this.#at + 2, this.#at + 6))
        : escaped !== '' && SIMPLE_ESCAPES.includes(escaped);
    if (valid) this.#at += length;
    return valid;
  }

  #number(): boolean {
    if (this.#text.charAt(this.#at) === '-') this.#at += 1;
    if (this.#text.charAt(this.#at) === '0') this.#at += 1;
    else if (!this.#digits()) return false;
    if (this.#text.charAt(this.#at) === '.') {
      this.#at += 1;
      if (!this.#digits()) return false;
    }
    if (!/^[eE]$/.test(this.#text.charAt(this.#at))) return true;
    this.#at += 1;
    if (/^[+-]$/.test(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#digits();
  }

  #digits(): boolean {
    const start = this.#at;
    while (/^[0-9]$/.test(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#at > start;
  }

  #literal(): boolean {
    const literal = LITERALS.find((word) => this.#text.startsWith(word, this.#at));
    this.#at += literal?.length ?? 0;
    return literal !== undefined;
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
