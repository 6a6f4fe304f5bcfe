/** `explain P3 --offer SCHEME,NETWORK`: prints how offers of one scheme and network are judged. */
import { NAMESPACES } from '../scanner/parse/x402/namespaces.ts';
import { classifyNetwork, toNetworkName } from '../scanner/parse/x402/networks.ts';
import type {
  ExtraForm,
  ExtraMember,
  JudgedBy,
  SchemeRow,
  Specification,
} from '../scanner/parse/x402/scheme-row.ts';
import { findSchemeRow } from '../scanner/parse/x402/schemes.ts';
import { UsageError } from './usage.ts';

const PAIR_PATTERN = /^([a-z0-9][-a-z0-9]{0,63}),([^,\s]{1,80})$/;
/** https://chainagnostic.org/CAIPs/caip-2 */
const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

const JUDGE_TEXTS: Readonly<Record<JudgedBy, string>> = {
  client: 'an official client, in every scan',
  tests: 'the specification; an official client judges the same offers in our tests',
  passive: 'the specification; no client is run',
  named: 'only the rules for all offers; this scanner knows the scheme, but does not judge it',
};

const FORM_TEXTS: Readonly<Record<Extract<ExtraForm, string>, string>> = {
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
  const [, scheme = '', network = ''] = PAIR_PATTERN.exec(pair) ?? [];
  const networkValidity = classifyNetwork(network, 2);
  if (scheme === '' || (networkValidity === 'malformed' && !CAIP2.test(network))) {
    throw new UsageError(
      `--offer ${JSON.stringify(pair)}: give a scheme and a network in CAIP-2, such as exact,eip155:8453`,
    );
  }
  const row = findSchemeRow(scheme, network);
  const heading = `${scheme} on ${network}`;
  if (row === null || networkValidity === 'unknown') return `${heading}: unknown to this catalog\n`;
  const { name, outdated: currentIds = {}, network: idPattern } = NAMESPACES[row.namespace];
  if (networkValidity === 'malformed') {
    return `${heading}: unknown to this catalog, because ids of ${name} networks have another form (${formatPattern(idPattern)})\n`;
  }
  const currentId = currentIds[network];
  return [
    `${heading} (${toNetworkName(currentId ?? network)})`,
    '',
    ...(currentId === undefined ? [] : [`  network       an outdated id: write ${currentId}`]),
    ...formatRow(row),
    '',
  ].join('\n');
}

function formatRow(row: SchemeRow): readonly string[] {
  const { namespace, judgedBy, client, requires, flows, amount, methods } = row;
  const { account, asset, source } = NAMESPACES[namespace];
  const requiredMembers = requires.filter(({ isOptional }) => isOptional !== true);
  const optionalMembers = requires.filter(({ isOptional }) => isOptional === true);
  const lines: readonly (readonly [string, string])[] = [
    ['judged by', JUDGE_TEXTS[judgedBy] + (client === null ? '' : ` (${client})`)],
    ['amount', amount === 'price' ? 'the price' : 'the most that the seller may charge'],
    ['asset', formatPattern(asset)],
    ['payTo', formatPattern(account)],
    ['extra', requiredMembers.map(formatMember).join('; ') || 'nothing is required'],
    ['if present', optionalMembers.map(formatMember).join('; ')],
    ['methods', methods === undefined ? '' : formatChoices(methods)],
    ['paymentFlow', flows === null ? 'not judged' : formatChoices(flows)],
    ['specification', formatSpecification(row.specification, row.draft ?? source)],
  ];
  return lines.flatMap(([label, text]) => (text === '' ? [] : [`  ${label.padEnd(13)} ${text}`]));
}

function formatChoices([first, ...others]: readonly string[]): string {
  return [`${first} (default)`, ...others].join(', ');
}

function formatSpecification(specification: Specification | null, fallback: string): string {
  if (specification === null) return fallback;
  const { file, blob, commit, read } = specification;
  return `${file}, ${blob === null ? `commit ${commit ?? '?'}` : `blob ${blob}`}, read ${read}`;
}

function formatMember({ name, form, onlyBy, onlyIn, unlessAsset }: ExtraMember): string {
  const byClause = onlyBy === undefined ? '' : ` (by ${onlyBy})`;
  const inClause = onlyIn === undefined ? '' : ` (in ${onlyIn})`;
  const exceptClause = unlessAsset === undefined ? '' : ` (except ${unlessAsset})`;
  return `${name}: ${formatForm(form)}${byClause}${inClause}${exceptClause}`;
}

function formatForm(form: ExtraForm): string {
  if (typeof form === 'string') return FORM_TEXTS[form];
  if ('bits' in form) return `an integer of ${form.bits} bits, from ${form.from ?? 0}`;
  if ('oneOf' in form) return form.oneOf.join(' or ');
  if ('hexDigits' in form) return `${form.hexDigits} hexadecimal digits`;
  const timeoutText = form.coversTimeout === true ? ', at least maxTimeoutSeconds' : '';
  return `${form.least} to ${form.most}${timeoutText}`;
}

/** Leaves out the anchors ^ and $. */
function formatPattern(pattern: RegExp | undefined): string {
  return pattern === undefined ? 'any text' : pattern.source.slice(1, -1);
}
