import type { Catalog } from '../../../scanner/engine/catalog/catalog.ts';
import type { Sentences } from '../../../scanner/engine/define-check.ts';
import {
  isUnjudged,
  listScoreCosts,
  SCORINGS,
  type ScoreCost,
} from '../../../scanner/engine/score.ts';
import type { OfferPayability, OfferVerdict } from '../../../scanner/model/payability.ts';
import type { CheckResult, ScanReport } from '../../../scanner/model/report.ts';
import { groupByRootCause } from '../../../scanner/model/verdict.ts';
import { namePart, STACKS, type Stack } from '../../../scanner/patches/patch.ts';
import { readPatchValues } from '../../../scanner/patches/patch-values.ts';
import {
  type CheckPatches,
  isStack,
  writePatches,
} from '../../../scanner/patches/write-patches.ts';
import { formatOfferPrice, toAnswerLine } from '../../../scanner/report/answer-line.ts';
import { formatUnevaluated, toHeading } from '../../../scanner/report/check-phrases.ts';
import { cutCell, cutText } from './page-text.ts';

/** For each check id, the sentences for a check that passes, fails, or is not judged. */
export type SentencesById = ReadonlyMap<string, Sentences>;

const SEVERITY_RANKS = { critical: 0, major: 1, minor: 2 } as const;
const MAX_FIRST_FINDINGS = 3;
/** Limits of escaped markup. The API's report has the whole text. */
const MAX_EVIDENCE_BYTES = 320;
const MAX_BRIEF_EVIDENCE_BYTES = 80;

type ReportResults = Pick<ScanReport, 'results' | 'payableBy' | 'payability'>;
type FindingRow = ReturnType<typeof toRow>;
type PageFinding = FindingRow & {
  /** Checks that could not be judged because of this finding. */
  readonly consequences: readonly FindingRow[];
  /** Points of the score that this finding and its consequences cost together. */
  readonly cost: number;
};

/** Sorts the results into the lists of the page. `first` has the costliest findings of all categories. */
export function toReportFindings(
  report: ReportResults,
  catalog: Catalog,
  says: SentencesById,
  isBrief = false,
) {
  const maxBytes = isBrief ? MAX_BRIEF_EVIDENCE_BYTES : MAX_EVIDENCE_BYTES;
  const buyerFacts = { ...report, isUnjudged: isUnjudged(report) };
  const costs = listScoreCosts(report.results, SCORINGS[catalog.scoring], buyerFacts);
  const pointsById = new Map(costs.map((cost) => [cost.id, cost.points]));
  const groupsByCause = groupByRootCause(report.results);
  const causeById = new Map(
    [...groupsByCause].flatMap(([cause, group]) => group.map(({ id }) => [id, cause] as const)),
  );
  const rows = report.results.map((result) => {
    const cause = causeById.get(result.id) ?? null;
    return toRow(result, { points: pointsById.get(result.id) ?? 0, cause, says, maxBytes });
  });
  const listedCauses = new Set(
    rows.filter((row) => isOwnFinding(row) && row.status !== 'pass').map(({ id }) => id),
  );
  // A consequence is listed under its cause, or by itself if the cause is not listed.
  const consequences = rows.filter(({ cause }) => cause !== null && listedCauses.has(cause));
  const listedRows = rows.filter(
    (row) => isOwnFinding(row) || (row.cause !== null && !consequences.includes(row)),
  );
  const problems = listedRows
    .filter(({ status }) => status !== 'pass')
    .map((row) => withConsequences(row, consequences));
  const first = findCostliest(problems, costs);
  const categories = catalog.categories.map(({ key, label }) => {
    const isInCategory = ({ category }: FindingRow) => category === key;
    const otherProblems = problems.filter((row) => isInCategory(row) && !first.includes(row));
    const bySeverity = (a: FindingRow, b: FindingRow) =>
      Number(b.status === 'fail') - Number(a.status === 'fail') ||
      SEVERITY_RANKS[a.severity] - SEVERITY_RANKS[b.severity];
    const passed = listedRows.filter((row) => isInCategory(row) && row.status === 'pass');
    return {
      label,
      key,
      firstIds: first.filter(isInCategory).map(({ id }) => id),
      problems: otherProblems.toSorted(bySeverity),
      passed,
    };
  });
  const undetermined = rows.filter(({ basis }) => basis === 'not_determined');
  const failedIds = rows
    .filter((row) => isOwnFinding(row) && row.status === 'fail')
    .map(({ id }) => id);
  const unevaluated = { count: causeById.size, text: formatUnevaluated(groupsByCause, failedIds) };
  return { first, categories, undetermined, unevaluated, costs };
}

function withConsequences(row: FindingRow, consequences: readonly FindingRow[]): PageFinding {
  const ownConsequences = consequences.filter(({ cause }) => cause === row.id);
  const cost = ownConsequences.reduce((sum, { points }) => sum + points, row.points);
  return { ...row, consequences: ownConsequences, cost };
}

/** Finds the findings that cost the most points. Findings of equal cost keep their order in `costs`. */
function findCostliest(
  problems: readonly PageFinding[],
  costs: readonly ScoreCost[],
): readonly PageFinding[] {
  const order = costs.map(({ id }) => id);
  return problems
    .filter(({ cost }) => cost > 0)
    .toSorted((a, b) => b.cost - a.cost || order.indexOf(a.id) - order.indexOf(b.id))
    .slice(0, MAX_FIRST_FINDINGS);
}

type RowOptions = {
  readonly points: number;
  /** Id of the failed check that prevented the evaluation of this check; null if this check was evaluated. */
  readonly cause: string | null;
  readonly says: SentencesById;
  readonly maxBytes: number;
};

function toRow(result: CheckResult, { points, cause, says, maxBytes }: RowOptions) {
  const sentences = says.get(result.id);
  const isUnjudged = result.basis === 'not_determined' || result.basis === 'not_evaluated';
  const judgedSentence = result.status === 'pass' ? sentences?.right : sentences?.wrong;
  const sentence = isUnjudged ? sentences?.unjudged : judgedSentence;
  return {
    ...result,
    evidence: cutText(result.evidence, maxBytes),
    phrase: toHeading(result.title),
    points,
    sentence: sentence ?? '',
    isUnjudged,
    cause,
  };
}

/** True for a finding that is neither undetermined nor a consequence of another finding. */
function isOwnFinding({ basis, cause }: FindingRow): boolean {
  return basis !== 'not_determined' && cause === null;
}

/** The page leaves out a longer patch. Patches can be long, because they list every route of the seller. */
const MAX_PATCH_CHARS = 4_500;
const DEFAULT_STACK: Stack = 'express';

/** Adds to each finding its patch for one stack. `stacks` lists the stacks that the reader can choose. */
export function toFirstFixes(
  report: ScanReport,
  findings: readonly PageFinding[],
  requestedStack: string | null,
  isBrief: boolean,
) {
  const isValid = requestedStack !== null && isStack(requestedStack);
  const stack = isValid ? requestedStack : DEFAULT_STACK;
  const values = readPatchValues(report);
  const fixes = findings.map((finding) => {
    const checkPatches = writePatches(finding.id, stack, values, finding.outcome);
    return { ...finding, patch: checkPatches && toShownPatch(checkPatches, isBrief) };
  });
  return {
    fixes,
    stack,
    stackName: STACK_NAMES[stack],
    stacks: STACKS.map((name) => ({ name, label: STACK_NAMES[name], isChosen: name === stack })),
    hasPatch: fixes.some(({ patch }) => patch !== null),
  };
}

function toShownPatch(checkPatches: CheckPatches, isBrief: boolean) {
  const blocks = toPatchBlocks(checkPatches);
  const chars = blocks.reduce((sum, { code }) => sum + (code?.length ?? 0), 0);
  return { lead: checkPatches.lead, blocks, isLeftOut: isBrief || chars > MAX_PATCH_CHARS };
}

type PatchBlock = {
  readonly heading: string;
  /** Null if no patch exists for this stack; the heading then says why. */
  readonly code: string | null;
};

export function toPatchBlocks({ patches }: CheckPatches): readonly PatchBlock[] {
  return patches.flatMap(({ topic, patch }): readonly PatchBlock[] =>
    'whyNot' in patch
      ? [{ heading: `${topic}: ${patch.whyNot}`, code: null }]
      : patch.parts.map((part) => ({
          heading: patches.length === 1 ? part.file : `${namePart(part)} (${topic})`,
          code: part.code,
        })),
  );
}

export const STACK_NAMES: Readonly<Record<Stack, string>> = {
  express: 'Express',
  hono: 'Hono',
  next: 'Next.js',
  fastapi: 'FastAPI',
  flask: 'Flask',
  go: 'Go',
  nginx: 'nginx',
};

type CellText = { readonly mark: string; readonly about: string };

const VERDICT_TEXTS: Readonly<Record<OfferVerdict, CellText>> = {
  signs: { mark: '✓', about: 'pays with default settings' },
  limited: { mark: '◐', about: 'pays if its limits are raised' },
  refuses: { mark: '✗', about: 'refuses' },
  unsupported: { mark: '–', about: 'does not support the scheme' },
};
/** The cell of a client that does not try an offer, because another client pays on its network. */
const OTHER_CLIENT = { verdict: 'none', mark: '·', about: 'is for other networks' } as const;
/** This client parses challenges for the other clients, and never pays. */
const PARSING_CLIENT = '@x402/core';
/** These limits keep the page small. The API's report has every offer. */
const MAX_OFFERS = 12;
const MAX_OFFERS_BRIEF = 3;

export function toPayableSection(report: ScanReport, isBrief: boolean) {
  const maxOffers = isBrief ? MAX_OFFERS_BRIEF : MAX_OFFERS;
  const clients = report.clients.filter(({ name }) => name !== PARSING_CLIENT);
  const offers = (report.payability ?? []).flatMap(({ method, path, offers }) =>
    offers.map((offer) => ({ ...offer, resource: cutCell(`${method} ${path}`) })),
  );
  return {
    answer: toAnswerLine(report),
    payableBy: report.payableBy,
    clients,
    parsingClient: report.clients.find(({ name }) => name === PARSING_CLIENT) ?? null,
    rows: offers.slice(0, maxOffers).map((offer) => ({
      ...offer,
      price: formatOfferPrice(offer),
      asset: shorten(offer.asset ?? '?'),
      network: shorten(offer.network ?? '?'),
      cells: clients.map(({ name }) => toCell(offer, name)),
    })),
    furtherRows: Math.max(0, offers.length - maxOffers),
  };
}

function toCell({ client, verdict, words }: OfferPayability, clientName: string) {
  if (client !== clientName && verdict !== 'unsupported') return { ...OTHER_CLIENT, words: null };
  return {
    verdict,
    ...VERDICT_TEXTS[verdict],
    words: words === null ? null : cutCell(words),
  };
}

/** "0x833589fcd6eDb…2913". A cut can split a character outside the BMP, so each half is made well-formed. */
function shorten(text: string): string {
  return text.length > 24
    ? `${text.slice(0, 15).toWellFormed()}…${text.slice(-4).toWellFormed()}`
    : text;
}
