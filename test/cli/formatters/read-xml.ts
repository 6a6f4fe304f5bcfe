export type XmlElement = {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  text: string;
};

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
const TAG = /^<(\/?)([A-Za-z][A-Za-z-]*)((?:\s+[A-Za-z]+="[^"<]*")*)\s*(\/?)>/;
const ATTRIBUTE = /([A-Za-z]+)="([^"]*)"/g;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Throws if the text is not well-formed XML. */
export function readXml(text: string): XmlElement {
  if (!text.startsWith(DECLARATION)) throw new Error('no XML declaration');
  if (FORBIDDEN.test(text)) throw new Error('a character that XML cannot hold');
  const document = toElement('#document', '');
  const openElements = [document];
  let rest = text.slice(DECLARATION.length);
  while (rest !== '') {
    const words = /^[^<]+/.exec(rest)?.[0];
    const read = words ?? readTag(rest, openElements);
    if (words !== undefined) innermost(openElements).text += decode(words);
    rest = rest.slice(read.length);
  }
  const [root, ...more] = document.children;
  if (openElements.length !== 1 || root === undefined || more.length > 0)
    throw new Error('no single root');
  return root;
}

/** Opens or closes an element. Returns the text of the tag. */
function readTag(rest: string, openElements: XmlElement[]): string {
  const [all, closes, name = '', attributes = '', empty] = TAG.exec(rest) ?? [];
  if (all === undefined) throw new Error(`no tag: ${rest.slice(0, 60)}`);
  const parent = innermost(openElements);
  if (closes === '/') {
    if (parent.name !== name) throw new Error(`</${name}> ends ${parent.name}`);
    openElements.pop();
    return all;
  }
  const child = toElement(name, attributes);
  parent.children.push(child);
  if (empty !== '/') openElements.push(child);
  return all;
}

function innermost(openElements: readonly XmlElement[]): XmlElement {
  const last = openElements.at(-1);
  if (last === undefined) throw new Error('more ends than starts');
  return last;
}

function toElement(name: string, attributes: string): XmlElement {
  const pairs = [...attributes.matchAll(ATTRIBUTE)];
  const map = new Map(pairs.map(([, key = '', value = '']) => [key, decode(value)]));
  if (map.size !== pairs.length) throw new Error(`an attribute of ${name} stands twice`);
  return { name, attributes: map, children: [], text: '' };
}

function decode(text: string): string {
  if (text.includes(']]>')) throw new Error('"]]>" in text');
  return text.replace(/&(#\d+;|[a-z]*;?)/g, (whole, name: string) => {
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1, -1)));
    const character = name.endsWith(';') ? ENTITIES[name.slice(0, -1)] : undefined;
    if (character === undefined) throw new Error(`no entity: ${whole}`);
    return character;
  });
}
