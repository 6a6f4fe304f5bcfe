/** `explain P3 --offer SCHEME,NETWORK`: the row by which the catalog judges a pair. */
import { NAMESPACES } from '../parse/x402/namespaces.ts';
import { networkForm, networkName } from '../parse/x402/networks.ts';
import type {
  ExtraForm,
  ExtraMember,
  JudgedBy,
  SchemeRow,
  Specification,
} from '../parse/x402/scheme-row.ts';
import { schemeRow } from '../parse/x402/schemes.ts';
import { UsageError } from './usage.ts';

const PAIR = /^([a-z0-9][-a-z0-9]{0,63}),([^,\s]{1,80})$/;
const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

const JUDGES: Readonly<Record<JudgedBy, string>> = {
  client: 'an official client, in every scan',
  tests: 'the specification; an official client judges the same offers in our tests',
  passive: 'the specification; no client is run',
  named: 'the rules of every offer only: known, and not judged here',
};

const FORMS: Readonly<Record<Extract<ExtraForm, string>, string>> = {
  text: 'a text',
  memo: 'a text that fits into a memo',
  object: 'an object',
  address: 'an address',
  'non-zero-address': 'an address, not zero',
  'zero-address': 'the zero address',
  true: 'true',
  false: 'false',
  'not-true': 'not true',
  absent: 'absent',
};

/** Throws UsageError unless the text is a scheme and a network of version 2. */
export function explainOffer(pair: string): string {
  const [, scheme = '', network = ''] = PAIR.exec(pair) ?? [];
  const form = networkForm(network, 2);
  if (scheme === '' || (form === 'malformed' && !CAIP2.test(network))) {
    throw new UsageError(
      `--offer ${JSON.stringify(pair)}: give a scheme and a network in CAIP-2, such as exact,eip155:8453`,
    );
  }
  const row = schemeRow(scheme, network);
  const head = `${scheme} on ${network}`;
  if (row === null || form === 'unknown') return `${head}: unknown to this catalog\n`;
  const { name, outdated = {}, network: ids } = NAMESPACES[row.namespace];
  if (form === 'malformed') {
    return `${head}: unknown to this catalog, ${name} has no such network (${shape(ids)})\n`;
  }
  const now = outdated[network];
  return [
    `${head} (${networkName(now ?? network)})`,
    '',
    ...(now === undefined ? [] : [`  network       an id of old: write ${now}`]),
    ...rowLines(row),
    '',
  ].join('\n');
}

function rowLines(row: SchemeRow): readonly string[] {
  const { namespace, judgedBy, client, requires, flows, amount, methods } = row;
  const { account, asset, source } = NAMESPACES[namespace];
  const required = requires.filter(({ isOptional }) => isOptional !== true);
  const optional = requires.filter(({ isOptional }) => isOptional === true);
  const lines: readonly (readonly [string, string])[] = [
    ['judged by', JUDGES[judgedBy] + (client === null ? '' : ` (${client})`)],
    ['amount', amount === 'price' ? 'the price' : 'a ceiling: the most that may be charged'],
    ['asset', shape(asset)],
    ['payTo', shape(account)],
    ['extra', required.map(memberText).join('; ') || 'nothing is required'],
    ['if present', optional.map(memberText).join('; ')],
    ['methods', methods?.map((one, at) => (at === 0 ? `${one} (default)` : one)).join(', ') ?? ''],
    ['paymentFlow', flowText(flows)],
    ['specification', specificationText(row.specification, row.draft ?? source)],
  ];
  return lines.flatMap(([label, text]) => (text === '' ? [] : [`  ${label.padEnd(13)} ${text}`]));
}

function flowText(flows: SchemeRow['flows']): string {
  if (flows === null) return 'not judged';
  const [first, ...others] = flows;
  return [`${first} (default)`, ...others].join(', ');
}

function specificationText(specification: Specification | null, reason: string): string {
  if (specification === null) return reason;
  const { file, blob, commit, read } = specification;
  return `${file}, ${blob === null ? `commit ${commit ?? '?'}` : `blob ${blob}`}, read ${read}`;
}

function memberText({ name, form, onlyBy, onlyIn, unlessAsset }: ExtraMember): string {
  const by = onlyBy === undefined ? '' : ` (by ${onlyBy})`;
  const within = onlyIn === undefined ? '' : ` (in ${onlyIn})`;
  const but = unlessAsset === undefined ? '' : ` (except ${unlessAsset})`;
  return `${name}: ${formText(form)}${by}${within}${but}`;
}

function formText(form: ExtraForm): string {
  if (typeof form === 'string') return FORMS[form];
  if ('bits' in form) return `an integer of ${form.bits} bits, from ${form.from ?? 0}`;
  if ('oneOf' in form) return form.oneOf.join(' or ');
  if ('hexDigits' in form) return `${form.hexDigits} hexadecimal digits`;
  const covering = form.coversTimeout === true ? ', at least maxTimeoutSeconds' : '';
  return `${form.least} to ${form.most}${covering}`;
}

function shape(pattern: RegExp | undefined): string {
  return pattern === undefined ? 'any text' : pattern.source.slice(1, -1);
}
