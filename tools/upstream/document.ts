/** Writes docs/networks-and-schemes.md from the tables that checks judge by. */

import { CLIENTS, TEST_CLIENTS } from '../../src/scanner/clients/open-clients.ts';
import { KNOWN_ASSETS } from '../../src/scanner/parse/x402/known-assets.ts';
import { NAMESPACES, type Namespace } from '../../src/scanner/parse/x402/namespaces.ts';
import { TESTNETS } from '../../src/scanner/parse/x402/network-names.ts';
import { toNetworkName, V1_NETWORKS } from '../../src/scanner/parse/x402/networks.ts';
import type { ExtraMember, SchemeRow } from '../../src/scanner/parse/x402/scheme-row.ts';
import { SCHEMES } from '../../src/scanner/parse/x402/schemes.ts';

export function renderNetworksDocument(): string {
  const [versions, tested] = [CLIENTS, TEST_CLIENTS].map((clients) =>
    clients.map(({ name, version }) => `\`${name}\` ${version}`).join(', '),
  );
  return `# Networks and schemes

\`npm run upstream -- --write\` writes this page from the tables in \`src/scanner/parse/x402/\`: change the tables, not this page.
\`npm run upstream\` compares the tables with the official packages (${versions})
and, with \`--specs DIR\`, with the specifications in a checkout of x402.

How a scan judges an offer depends on the offer's scheme and network, its **pair**. The column "judged by" says which of these applies:

- **client**: in every scan, an official client signs the offer or says why not;
- **tests**: the scan judges the offer by its specification. Our tests compare the judgement with that of an official client
  (${tested}). No client runs in a scan, so \`payableBy\` is \`unknown\`;
- **passive**: the scan judges the offer by its specification; \`payableBy\` is \`unknown\`;
- **named**: the scan knows the pair, but judges the offer only by the rules for all offers; \`payableBy\` is \`unknown\`.
  If a seller offers nothing else, P3, P6 and P7 are not determined;
- **unknown**: the pair has no row here. The report says so ("unknown to this catalog"). Such an offer is not a fault if the
  seller also makes an offer that a client can pay.

## Schemes

Columns of the table:

- \`extra\` must hold: the members that an offer needs. "By M" means only if the transfer method is M, "in F" only if the
  payment flow is F, "except A" not for the asset A, and "no X" that the member X must be absent.
- \`paymentFlow\`: the allowed values of \`extra.paymentFlow\`. If an offer has no such member, the first value applies.
- the amount is: a price, or a ceiling, which is the most that the seller may take.
- version read: the git blob of the specification in the x402 repository, or, if the blob is not known, a commit that has the
  specification.

| scheme | networks | judged by | \`extra\` must hold | \`paymentFlow\` | the amount is | specification | version read |
|---|---|---|---|---|---|---|---|
${SCHEMES.map(schemeLine).join('\n')}

## Networks

| namespace | networks | network ids look like | source |
|---|---|---|---|
${Object.entries(NAMESPACES)
  .map(
    ([id, { name, network, source }]) => `| \`${id}\` | ${name} | ${code(network)} | ${source} |`,
  )
  .join('\n')}

Former ids, which specifications still print: ${listOutdatedIds().join(', ')}.

Test networks, where money is worth nothing: ${[...new Set(TESTNETS.values())].join(', ')}.

## Names of version 1

| name | network |
|---|---|
${[...V1_NETWORKS].map(([name, network]) => `| \`${name}\` | \`${network}\` |`).join('\n')}

## Known assets

The decimals make prices comparable. An offer must name the EIP-712 domain of its asset. With their defaults,
official clients pay only in these assets.

| network | | asset | | decimals | EIP-712 domain |
|---|---|---|---|---|---|
${KNOWN_ASSETS.map(
  ([network, asset, symbol, decimals, domain]) =>
    `| ${toNetworkName(network)} | \`${network}\` | \`${asset}\` | ${symbol} | ${decimals} | ${domain === null ? '–' : `"${domain[0]}", "${domain[1]}"`} |`,
).join('\n')}
`;
}

function schemeLine(row: SchemeRow): string {
  const { scheme, namespace, requires, amount, flows, judgedBy, client } = row;
  const needed = requires.filter(({ isOptional }) => isOptional !== true);
  const cells = [
    code(scheme),
    `${NAMESPACES[namespace].name} (${code(namespace)})`,
    client === null ? judgedBy : `${judgedBy}: ${code(client)}`,
    needed.map(memberText).join(', ') || 'nothing',
    flows?.map(code).join(', ') ?? 'not judged',
    amount,
    ...specificationCells(row),
  ];
  return `| ${cells.join(' | ')} |`;
}

function specificationCells({ specification, draft }: SchemeRow): readonly string[] {
  if (specification === null) return [draft ?? '–', '–'];
  const { file, blob, commit, read } = specification;
  return [file, `${blob === null ? `commit ${code(commit ?? '')}` : code(blob)}, ${read}`];
}

function memberText({ name, form, onlyBy, onlyIn, unlessAsset }: ExtraMember): string {
  const value = form === 'true' || form === 'false' ? ` (\`${form}\`)` : '';
  const absent = form === 'absent' ? 'no ' : '';
  const by = onlyBy === undefined ? '' : ` (by ${onlyBy})`;
  const within = onlyIn === undefined ? '' : ` (in ${onlyIn})`;
  const but = unlessAsset === undefined ? '' : ` (except ${unlessAsset})`;
  return `${absent}${code(name)}${value}${by}${within}${but}`;
}

function listOutdatedIds(): readonly string[] {
  const ids = Object.keys(NAMESPACES).flatMap((id) =>
    Object.entries(NAMESPACES[id as Namespace].outdated ?? {}),
  );
  return ids.map(([old, now]) => `\`${old}\` (now \`${now}\`)`);
}

/** A table's cells end at "|", in code too. */
function code(text: string | RegExp): string {
  const plain = typeof text === 'string' ? text : text.source.slice(1, -1);
  return `\`${plain.replaceAll('|', '\\|')}\``;
}
