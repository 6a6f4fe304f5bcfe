const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is safe to print as markup; templates print it unescaped. */
export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Value = string | number | Markup | readonly Markup[];

/** Builds markup. Strings and numbers are escaped, markup is kept as it is. */
export function markup(literals: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const text = literals.map((literal, index) => `${literal}${toText(values[index] ?? '')}`);
  return new Markup(text.join(''));
}

function toText(value: Value): string {
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'object') return value.join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
