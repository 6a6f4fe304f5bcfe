/** Finds the paths that a seller names beside a price, in the JSON of the root and in lines of llms.txt. */
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonText,
} from '../../parse/json/json.ts';
import type { Kit } from '../../parse/kit/kit.ts';
import { removeQuery } from '../../parse/openapi/openapi-path.ts';
import { findPriceSign } from '../../parse/text/stated-price.ts';
import { type FirstWave, findPathOnOrigin } from './declared-requests.ts';

export type PricedPath = {
  /** Upper case. */
  readonly method: string;
  /** Path and query, as the seller writes it: "/fact/:slug". */
  readonly template: string;
  /** The path of an example beside it; null without one. */
  readonly example: string | null;
  readonly source: 'root' | 'llms';
};

const MAX_PATHS = 20;
const MAX_VALUES = 2_000;
const MAX_DEPTH = 6;
const MAX_LINES = 5_000;
const MAX_LINE_CHARS = 500;

const ADDRESS_MEMBERS = ['path', 'endpoint', 'route', 'url', 'uri', 'resource', 'name'];
const EXAMPLE_MEMBERS = ['example', 'example_url', 'exampleUrl', 'example_path', 'sample', 'try'];
const PAID_LIST = /(?<!un)paid|pric(?:e|ing)/i;
const FREE_LIST = /free|unpaid/i;
/** A map of paths, which beside a price has what is sold: { "endpoints": { "rates": "/rates" }, "price": "$0.01" }. */
const PATH_MAP = /^(?:endpoints|routes|paths)$/i;
/** "$0.01" or "0.001 USDC" */
const WRITTEN_PRICE = /\$\s?[0-9]*\.?[0-9]|[0-9]\s*USDC?\b/i;
const REQUEST =
  /^(?:(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)[ \t]+)?((?:\/|https?:\/\/)[^\s`'",)]*)/i;
/** "GET /fact/water", "- `GET /fact/:slug` $0.01", "### POST /sum", "| GET | [/fact](/fact) |", "Paid sums: POST /sum" */
const LINE =
  /^[\s>]*(?:\|\s*|#{1,6}\s+|[-*+]\s+|[0-9]{1,3}[.)]\s+)?(?:\w[\w -]{0,40}:\s+)?[`*_]{0,3}([Gg][Ee][Tt]|POST|PUT|PATCH|DELETE)[`*_]{0,3}[\s|]+[`*_[]{0,3}((?:\/|https?:\/\/)[^\s`*|)]*)(.*)$/;

/** Returns at most 20 paths with their methods, those of the root first. */
export function findPriceLists(wave: FirstWave, kit: Kit): readonly PricedPath[] {
  const paths = new Map<string, PricedPath>();
  for (const path of [...readRoot(wave, kit), ...readLlmsLines(wave, kit)]) {
    const key = `${path.method} ${path.template}`;
    if (paths.size < MAX_PATHS && !paths.has(key)) paths.set(key, path);
  }
  return [...paths.values()];
}

type FindPath = (reference: string) => string | null;

function readRoot({ origin, root, soft404 }: FirstWave, kit: Kit): readonly PricedPath[] {
  const reading = kit.document('/', root, soft404);
  const json = reading.state === 'present' ? kit.json(reading.body) : null;
  if (json?.ok !== true) return [];
  const reader = new RootReader((reference) => findPathOnOrigin(origin.url, reference, kit));
  reader.read(json.value, false, 0);
  return reader.paths;
}

class RootReader {
  readonly paths: PricedPath[] = [];
  readonly #findPath: FindPath;
  #visits = 0;

  constructor(findPath: FindPath) {
    this.#findPath = findPath;
  }

  /** @param isPaidList true below a member whose name says "paid" or "prices" */
  read(value: JsonValue | undefined, isPaidList: boolean, depth: number): void {
    this.#visits += 1;
    if (this.#visits > MAX_VALUES || depth > MAX_DEPTH) return;
    if (isJsonList(value)) {
      for (const item of value) {
        if (typeof item === 'string') this.#add(item, {}, isPaidList);
        else this.read(item, isPaidList, depth + 1);
      }
    } else if (isJsonObject(value)) this.#readObject(value, isPaidList, depth);
  }

  #readObject(value: JsonObject, isPaidList: boolean, depth: number): void {
    const sign = findPriceSign(value);
    const texts = ADDRESS_MEMBERS.map((name) => jsonText(value[name]) ?? '');
    const address = texts.find((text) => REQUEST.test(text));
    const isSold = sign === 'positive' || (isPaidList && sign === null);
    if (address !== undefined) this.#add(address, value, isSold);
    for (const [name, inner] of Object.entries(value)) {
      const isPriced = PAID_LIST.test(name) || (sign === 'positive' && PATH_MAP.test(name));
      const isPaid = isPriced || (isPaidList && !FREE_LIST.test(name));
      if (REQUEST.test(name)) this.#readKey(name, inner, isPaid);
      else if (typeof inner === 'string' && isPaidList) this.#add(inner, {}, isPaid);
      else if (typeof inner === 'object') this.read(inner, isPaid, depth + 1);
    }
  }

  /** Reads `"/fact/:slug": "0.01 USDC"`. */
  #readKey(address: string, value: JsonValue | undefined, isPaidList: boolean): void {
    const details: JsonObject = isJsonObject(value) ? value : {};
    const sign = isJsonObject(value) ? findPriceSign(value) : findPriceSign({ price: value });
    const isPrice = typeof value === 'string' && WRITTEN_PRICE.test(value);
    const isSold = isJsonObject(value) ? sign === 'positive' : isPrice && sign === 'positive';
    this.#add(address, details, isSold || (isPaidList && sign !== 'zero'));
  }

  #add(address: string, details: JsonObject, isSold: boolean): void {
    const [, prefix, target = ''] = REQUEST.exec(address.trim()) ?? [];
    const template = isSold && target !== '' ? this.#findPath(target) : null;
    if (template === null) return;
    const method = (prefix ?? jsonText(details['method']) ?? 'GET').trim().toUpperCase();
    const examples = EXAMPLE_MEMBERS.map((name) => jsonText(details[name]) ?? '');
    const example = findExample(template, examples, this.#findPath);
    this.paths.push({ method, template, example, source: 'root' });
  }
}

function readLlmsLines({ origin, llmsTxt, soft404 }: FirstWave, kit: Kit): readonly PricedPath[] {
  const reading = kit.document('/llms.txt', llmsTxt, soft404);
  if (reading.state !== 'present') return [];
  const findPath: FindPath = (reference) => findPathOnOrigin(origin.url, reference, kit);
  return reading.body.split('\n', MAX_LINES).flatMap((line): readonly PricedPath[] => {
    const text = line.slice(0, MAX_LINE_CHARS).trimEnd();
    const [, method = '', target = '', rest = ''] = LINE.exec(text) ?? readCurl(text);
    const template = target === '' ? null : findPath(target.replace(/\]\(.*|[.,;:]+$/, ''));
    if (template === null) return [];
    const example = findExample(template, [rest], findPath);
    return [{ method: method.toUpperCase(), template, example, source: 'llms' }];
  });
}

const CURL = /^[\s>$`]*curl\s.*?(https?:\/\/[^\s'"`]+)(.*)$/;

/** Reads `curl -X POST https://…`; data without a method means POST. Returns what LINE captures, in its order. */
function readCurl(line: string): readonly string[] {
  const [, target = '', rest = ''] = CURL.exec(line) ?? [];
  const usual = /\s(?:-d|--data\S*|--json)\s/.test(line) ? 'POST' : 'GET';
  const [, method = usual] = /\s(?:-X|--request)\s*([A-Z]+)/.exec(line) ?? [];
  return [line, method, target, rest];
}

const PARAMETER = /:\w+|\{[^}]*\}|\[\w+\]|\*/g;

/** Returns the first path in `texts` that fits the template; null for a template without a parameter. */
export function findExample(
  template: string,
  texts: readonly string[],
  findPath: FindPath,
): string | null {
  const segments = removeQuery(template).split('/');
  const parameters = segments.filter((segment) => /^(?::\w|\{|\[|\*)/.test(segment));
  if (parameters.length === 0) return null;
  for (const text of texts) {
    const words = text.slice(0, MAX_LINE_CHARS).split(/[\s`'"()|,]+/);
    for (const word of words) {
      const example = /^(?:\/|https?:\/\/)/i.test(word) ? findPath(word) : null;
      if (example !== null && fits(segments, example)) return example;
    }
    const isValue = /^[\w.~-]{1,100}$/.test(text);
    if (isValue && parameters.length === 1) return template.replace(PARAMETER, text);
  }
  return null;
}

function fits(template: readonly string[], example: string): boolean {
  const path = removeQuery(example);
  const segments = path.split('/');
  if (/[:{[*]/.test(path) || segments.length !== template.length) return false;
  return template.every((step, index) => /^[:{[*]/.test(step) || step === segments[index]);
}
