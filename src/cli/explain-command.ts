/**
 * `explain <id>`: prints the reason, rule, outcomes and patch of a check. `--stack` prints the patch for one
 * stack, with the values of `--report` and the address of `--public-url`. `--offer` prints how offers of one
 * scheme and network are judged.
 */
import {
  CatalogError,
  type Explanation,
  explainOneCheck,
  listCatalogs,
  readCatalog,
} from '../scanner/engine/catalog/catalog.ts';
import { INDEXED_REASONS } from '../scanner/model/indexed.ts';
import { ADVICE_FIXES, ADVICE_IDS, type AdviceId } from '../scanner/model/report.ts';
import { STACKS } from '../scanner/patches/patch.ts';
import { toHeading } from '../scanner/report/check-phrases.ts';
import { INDEXED_STEPS } from '../scanner/report/indexed-words.ts';
import { defuseCommands } from './formatters/escapes.ts';
import { type Streams, write } from './io.ts';
import { EXPLANATIONS } from './pay-test/explanations.ts';
import { isTrialId, TRIALS, type TrialId } from './pay-test/result.ts';
import {
  type PatchedSeller,
  parsePublicUrl,
  readPatchReport,
  showPatches,
  showStacks,
  showTrialPatch,
} from './show-patches.ts';
import { parseOptionalChoice, readFlags, UsageError, usageLine } from './usage.ts';

/** Throws UsageError for an unknown check or stack, and for a file that is not a report. */
export async function explainCommand(args: readonly string[], { out }: Streams): Promise<0> {
  await write(out, defuseCommands(await explain(parse(args))));
  return 0;
}

async function explain(call: ReturnType<typeof parse>): Promise<string> {
  const { id, file, stack, publicOrigin, offer } = call;
  // Loaded on demand: the table of schemes serves no other explanation.
  if (offer !== null) return (await import('./explain-offer.ts')).explainOffer(offer);
  const topicText = explainTopic(id.toLowerCase());
  if (topicText !== null) return topicText;
  const report = file === null ? null : await readPatchReport(file);
  const seller = { report, publicOrigin };
  const idInCapitals = id.toUpperCase();
  if (isTrialId(idInCapitals)) {
    return stack === null
      ? renderTrial(idInCapitals, seller)
      : showTrialPatch(idInCapitals, stack, seller);
  }
  const newestVersion = (await listCatalogs()).at(-1) ?? 'none';
  const { catalog, isChanged } = await readCatalog(newestVersion);
  if (isChanged) {
    throw new CatalogError(
      `catalog/${newestVersion}.json is refused: it is published and was changed.`,
    );
  }
  if (!catalog.checks.some((check) => check.id === idInCapitals)) {
    const ids = catalog.checks.map((check) => check.id).join(', ');
    throw new UsageError(
      `${id}: no such check; there are ${ids}, the trials T1 to T18, and for other parts of a report indexed, ${ADVICE_IDS.join(', ')}`,
    );
  }
  return stack === null
    ? renderCheck(await explainOneCheck(idInCapitals, catalog), seller)
    : showPatches(idInCapitals, stack, seller);
}

function parse(args: readonly string[]) {
  const { values, positionals } = readFlags('explain', args, {
    report: { type: 'string' },
    stack: { type: 'string' },
    'public-url': { type: 'string' },
    offer: { type: 'string' },
  });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0) throw new UsageError(usageLine('explain'));
  const stack = parseOptionalChoice('--stack', values.stack, STACKS);
  const url = values['public-url'];
  const publicOrigin = url === undefined ? null : parsePublicUrl(url);
  const offer = values.offer ?? null;
  if (offer !== null && id.toUpperCase() !== 'P3') {
    throw new UsageError(
      `--offer ${JSON.stringify(offer)}: only P3 judges offers by scheme and network`,
    );
  }
  return { id, offer, file: values.report ?? null, stack, publicOrigin };
}

function renderCheck(explanation: Explanation, seller: PatchedSeller): string {
  const { id, title, severity, category, impl, outcomes, sections } = explanation;
  return [
    `${id} ${toHeading(title)} (${title}, ${severity}, ${category}, ${impl})`,
    '',
    ...sections.flatMap(({ heading, text }) => toSection(heading.toUpperCase(), text.trim())),
    ...(category === 'directory' ? [] : ['PATCH', '', showStacks(id, seller)]),
    `Outcomes, first match wins: ${outcomes.join(', ')}`,
    '',
  ].join('\n');
}

function renderTrial(id: TrialId, seller: PatchedSeller): string {
  const { why, fix, upstream = [] } = EXPLANATIONS[id];
  return [
    `${id} ${TRIALS[id].title} (a trial of pay-test; docs/pay-test.md has the rule)`,
    '',
    ...toSection('WHY', why),
    ...toSection('FIX', fix),
    ...(upstream.length === 0 ? [] : toSection('SEEN IN MIDDLEWARES', ...upstream)),
    'PATCH',
    '',
    `Stacks: ${STACKS.join(', ')} (--report FILE fills in your own values; --stack NAME prints only one)`,
    '',
    showTrialPatch(id, STACKS[0], seller),
  ].join('\n');
}

type Topic = Readonly<Record<'why' | 'source' | 'fix', string>>;

const ADVICE_TOPICS: Readonly<Record<AdviceId, Omit<Topic, 'fix'>>> = {
  'testnet-only': {
    why: 'All offers are on test networks. Their money is worth nothing.',
    source: 'The networks of the offers.',
  },
  'over-default-limit': {
    why: 'Default clients refuse to pay over 1 USD a call until their buyer raises the limit.',
    source: 'The spend controls of @x402/core; x402 issues 3124, 3154.',
  },
  'under-facilitator-minimum': {
    why: 'The CDP facilitator settles no payment under 0.001 USD.',
    source: 'x402 issue 1171.',
  },
  'needs-allowance': {
    why: 'Permit2 moves only what the wallet has approved, and most wallets have approved nothing.',
    source: 'specs/schemes/exact/scheme_exact_evm.md of x402.',
  },
  'signed-offer-differs': {
    why: 'The signed offer and accepts state different prices or recipients, so a buyer who compares them will not pay.',
    source: 'specs/extensions/offer-receipt.md of x402.',
  },
  'sign-in-elsewhere': {
    why: 'Wallets refuse to sign in to another host than the one that they requested.',
    source: 'specs/extensions/sign-in-with-x.md of x402; EIP-4361.',
  },
  'identifier-required': {
    why: 'Many clients send no payment identifier, so they cannot pay if it is required.',
    source: 'specs/extensions/payment-identifier.md of x402.',
  },
  'methods-unseen': {
    why: 'Indexes and scanners send only GET and POST, because other methods may change data.',
    source: 'The paid operations of your OpenAPI document and manifest.',
  },
  'pays-before-delivery': {
    why: 'An offer with the flow upfront is settled before the work, and x402 has no refund. A buyer whose call then fails has paid for nothing. Clients should prefer authorization if both are offered.',
    source: 'specs/schemes/exact/scheme_exact.md of x402; x402 issues 3053, 3145, 3240.',
  },
  'hidden-from-browsers': {
    why: 'Scripts of other sites cannot read the answer or its PAYMENT-REQUIRED header, so web apps cannot pay.',
    source: 'https://fetch.spec.whatwg.org/#http-cors-protocol',
  },
  'paywall-without-challenge': {
    why: 'In a browser the resource answers with a page, and no wallet can pay a page.',
    source: 'specs/transports-v2/http.md of x402: the challenge is in the header of a 402.',
  },
  'asset-without-code': {
    why: 'The asset address has no code, so a transfer succeeds and moves nothing.',
    source: 'eth_getCode of the asset; x402 issue 773.',
  },
  'domain-differs': {
    why: 'Wallets sign with extra.name and extra.version, and the token refuses signatures with other values.',
    source: 'DOMAIN_SEPARATOR() and eip712Domain() of the asset; x402 issues 3102, 3105, 3152.',
  },
  'transfer-reverts': {
    why: 'The node says that transfers of the asset to payTo revert, so no payment settles.',
    source: 'isBlacklisted(payTo), and a transfer of amount 0, simulated by eth_call.',
  },
  'no-token-account': {
    why: 'On Solana a token needs an account of its own, and payTo has none for this asset.',
    source: 'getTokenAccountsByOwner of payTo; x402 issues 1020, 2802.',
  },
  'varies-unsaid': {
    why: 'The answer depends on Accept, but does not say so. A cache may then give the page to a program.',
    source: 'RFC 9110, 12.5.5.',
  },
};

/** Explains a part of a report that is not a check. Returns null for an unknown name. */
function explainTopic(name: string): string | null {
  if (name === 'indexed') return explainIndexed();
  const id = ADVICE_IDS.find((adviceId) => adviceId === name);
  if (id === undefined) return null;
  return renderTopic(`${id} (advice, not graded)`, { ...ADVICE_TOPICS[id], fix: ADVICE_FIXES[id] });
}

function explainIndexed(): string {
  const why =
    'Agents find APIs in indexes. They do not buy a resource that is missing there, or listed at an old price.\n' +
    'The scan compares the entries of the Bazaar and x402scan with the live challenge: price, recipient,\n' +
    'network, asset, scheme, description, input, method and version. The Bazaar lists what its facilitator settles,\n' +
    'and drops what nobody pays for 30 days. One settlement through that facilitator brings a listing back.\n' +
    'Pay-test T15 shows before that payment if the facilitator gets what it needs for a listing.';
  const source =
    'https://docs.cdp.coinbase.com/x402/bazaar; https://www.x402scan.com; x402 issues 1461, 1982, 2112, 2284.';
  const fix = INDEXED_REASONS.map((code) => `${code}: ${INDEXED_STEPS[code]}`).join('\n');
  return renderTopic('indexed (not graded)', { why, source, fix });
}

function renderTopic(title: string, { why, source, fix }: Topic): string {
  const sections = [toSection('WHY', why), toSection('FIX', fix), toSection('SOURCE', source)];
  return [title, '', ...sections.flat()].join('\n');
}

function toSection(heading: string, ...lines: readonly string[]): readonly string[] {
  return [heading, '', ...lines, ''];
}
