import { isIP } from 'node:net';
import { isBlockedAddress } from '../scanner/guard/address.ts';
import { namePart, type Patch, STACKS, type Stack } from '../scanner/patches/patch.ts';
import {
  choosePlaceholders,
  type PatchReport,
  type PatchValues,
  readPatchValues,
  toAddressValues,
} from '../scanner/patches/patch-values.ts';
import { writePatches, writeTrialPatch } from '../scanner/patches/write-patches.ts';
import { readReport } from './io.ts';
import { describeFix } from './pay-test/explanations.ts';
import type { TrialId } from './pay-test/result.ts';
import { UsageError } from './usage.ts';

export type PatchedSeller = {
  readonly report: PatchReport | null;
  /** The origin of `--public-url`; null without the flag. */
  readonly publicOrigin: string | null;
};

/** Formats the patch for the outcome in the report; without a report, patches for each kind of finding. */
export function showPatches(checkId: string, stack: Stack, seller: PatchedSeller): string {
  const values = choosePatchValues(checkId, seller);
  const outcome = seller.report?.results.find(({ id }) => id === checkId)?.outcome ?? null;
  const checkPatches = writePatches(checkId, stack, values, outcome);
  if (checkPatches === null) {
    return `${checkId}: no patch, because this check judges data that others serve.\n`;
  }
  const lines = checkPatches.patches.flatMap(({ topic, patch }) => patchLines(topic, patch));
  return [`${checkId} for ${stack}. ${checkPatches.lead}`, '', ...lines].join('\n');
}

export function showTrialPatch(trialId: TrialId, stack: Stack, seller: PatchedSeller): string {
  const { topic, patch } = writeTrialPatch(trialId, stack, choosePatchValues(trialId, seller));
  return [
    `${trialId} for ${stack}. ${describeFix(trialId, stack)}`,
    '',
    ...patchLines(topic, patch),
  ].join('\n');
}

function patchLines(topic: string, patch: Patch): readonly string[] {
  return 'whyNot' in patch
    ? [`${topic}: ${patch.whyNot}`, '']
    : patch.parts.flatMap((part) => [`--- ${topic}: ${namePart(part)}`, part.code]);
}

/** @param id id of a check or a trial */
function choosePatchValues(id: string, { report, publicOrigin }: PatchedSeller): PatchValues {
  if (report !== null) {
    return readPatchValues(report, publicOrigin ?? findPublicOrigin(report.origin));
  }
  const placeholders = choosePlaceholders(id);
  return publicOrigin === null
    ? placeholders
    : { ...placeholders, ...toAddressValues(publicOrigin) };
}

/** Lists the names of all stacks, and shows the patch for the first stack. */
export function showStacks(checkId: string, seller: PatchedSeller): string {
  const reportHint = seller.report === null ? '--report FILE fills in your own values; ' : '';
  return [
    `Stacks: ${STACKS.join(', ')} (${reportHint}--stack NAME prints only one)`,
    '',
    showPatches(checkId, STACKS[0], seller),
  ].join('\n');
}

/** Names that resolve only on the scanned machine or in its network. */
const LOCAL_NAME =
  /^[^.]+$|(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|test|invalid|home\.arpa)$/;

/** Parses `--public-url`. Throws UsageError unless the text is an origin. */
export function parsePublicUrl(text: string): string {
  const url = URL.parse(text);
  const isOrigin =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    `${url.pathname}${url.search}${url.hash}` === '/';
  if (!isOrigin) {
    throw new UsageError(
      `--public-url ${JSON.stringify(text)}: give only scheme and host, such as https://api.example.com`,
    );
  }
  return url.origin;
}

/** Returns the origin; null for a local or private address, which buyers cannot reach. */
function findPublicOrigin(origin: string): string | null {
  const hostname = URL.parse(origin)?.hostname.replace(/\.$/, '') ?? '';
  const address = hostname.replace(/^\[|\]$/g, '');
  const isLocal = isIP(address) === 0 ? LOCAL_NAME.test(hostname) : isBlockedAddress(address);
  return isLocal ? null : origin;
}

/** Reads the members of a report that patches need. Throws UsageError if the file is not a report. */
export async function readPatchReport(file: string): Promise<PatchReport> {
  // Loaded on demand: most explanations read no report.
  const { Type } = await import('typebox');
  const { nullable, routeFacts, text } = await import('../scanner/model/shapes.ts');
  const schema = Type.Object({
    origin: text,
    results: Type.Array(Type.Object({ id: text, outcome: text })),
    routes: Type.Optional(nullable(routeFacts)),
    named: Type.Optional(nullable(Type.Object({ method: text, path: text }))),
  });
  return readReport<PatchReport>(file, schema);
}
