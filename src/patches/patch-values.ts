/** What patches are filled in with: values of a report, or placeholders in angle brackets. */
import type { ScanReport } from '../model/report.ts';
import { cleanText } from '../parse/text/text.ts';
import { amountOf } from '../parse/x402/amount.ts';
import { knownAsset } from '../parse/x402/assets.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export type PatchValues = {
  /** "https://api.example.com" */
  readonly origin: string;
  readonly host: string;
  readonly method: Method;
  /** Of the paid resource that the finding names, else of the first. */
  readonly path: string;
  /** Of an operation that costs nothing. */
  readonly freePath: string;
  /** Decimal dollars: "0.01" */
  readonly price: string;
  /** CAIP-2 */
  readonly network: string;
  readonly payTo: string;
  readonly description: string;
};

export const PLACEHOLDERS: PatchValues = {
  origin: '<origin>',
  host: '<host>',
  method: 'GET',
  path: '/<route>',
  freePath: '/<free route>',
  price: '<price>',
  network: '<network:id>',
  payTo: '<payTo>',
  description: '<what the route sells, at most 500 characters>',
};

/** As much of a saved report as is read; what is older has no payability. */
export type PatchReport = Pick<ScanReport, 'origin' | 'payability'> & {
  readonly results: readonly Pick<ScanReport['results'][number], 'id' | 'outcome' | 'evidence'>[];
};

const MAX_CHARS = 300;
const PATH = /^\/[A-Za-z0-9._~!$&'"()*+,;=:@%/{}[\]`\\-]*$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;
const NETWORK = /^[a-z0-9-]{3,8}:[A-Za-z0-9_-]{1,32}$/;
const EVM_ADDRESS = /0x[0-9a-fA-F]{40}(?![0-9a-zA-Z])/g;
const REQUEST = /\b(GET|POST|PUT|PATCH|DELETE) (\/[^\s;,]*)/g;

/** A value that is missing, odd, or holds what cannot be seen stays a placeholder. */
export function readPatchValues(report: PatchReport, checkId: string): PatchValues {
  const evidence = report.results.find(({ id }) => id === checkId)?.evidence ?? '';
  const paid = paidResource(report, checkId, evidence);
  const offer = paid?.offers.find(({ network }) => NETWORK.test(network ?? ''));
  return {
    ...PLACEHOLDERS,
    ...originOf(report.origin),
    method: METHODS.find((method) => method === paid?.method) ?? defaultMethod(checkId),
    path: pathOf(paid?.path) ?? PLACEHOLDERS.path,
    freePath: freePath(checkId, evidence) ?? PLACEHOLDERS.freePath,
    price: priceOf(offer) ?? PLACEHOLDERS.price,
    network: offer?.network ?? PLACEHOLDERS.network,
    payTo: recipientOf(report) ?? PLACEHOLDERS.payTo,
  };
}

/** Placeholders where there is no report. S5 is about POST resources. */
export function placeholderValues(checkId: string): PatchValues {
  return { ...PLACEHOLDERS, method: defaultMethod(checkId) };
}

function defaultMethod(checkId: string): Method {
  return checkId === 'S5' ? 'POST' : PLACEHOLDERS.method;
}

type Paid = NonNullable<ScanReport['payability']>[number];

function paidResource(report: PatchReport, checkId: string, evidence: string): Paid | undefined {
  const all = (report.payability ?? []).filter(
    ({ method }) => checkId !== 'S5' || method === 'POST',
  );
  const requests = [...evidence.matchAll(REQUEST)].map(([, method, path]) => `${method} ${path}`);
  return all.find(({ method, path }) => requests.includes(`${method} ${path}`)) ?? all[0];
}

/** Evidence of S3 names the operations that do not say they are free. */
function freePath(checkId: string, evidence: string): string | null {
  if (checkId !== 'S3') return null;
  const [first] = evidence.matchAll(REQUEST);
  return pathOf(first?.[2]);
}

function originOf(origin: string): Pick<PatchValues, 'origin' | 'host'> | null {
  const url = URL.parse(origin);
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== origin) return null;
  return { origin, host: url.hostname };
}

function pathOf(path: string | undefined): string | null {
  if (path === undefined || cleanText(path, MAX_CHARS) !== path) return null;
  return PATH.test(path) && !DOT_SEGMENT.test(path) ? path : null;
}

function priceOf(offer: Paid['offers'][number] | undefined): string | null {
  const amount = amountOf(offer?.amount ?? undefined);
  const asset = knownAsset(offer?.network ?? '', offer?.asset ?? '');
  if (amount === null || asset === null) return null;
  const digits = String(amount).padStart(asset.decimals + 1, '0');
  const [whole, fraction] = [digits.slice(0, -asset.decimals), digits.slice(-asset.decimals)];
  const kept = fraction.replace(/0+$/, '');
  return kept === '' ? whole : `${whole}.${kept}`;
}

/** Where P7 found one recipient and nothing wrong with it: any other is no value to copy. */
function recipientOf({ results }: PatchReport): string | null {
  const said = results.find(({ id }) => id === 'P7');
  if (said?.outcome !== 'consistent') return null;
  const [first, ...others] = new Set(said.evidence.match(EVM_ADDRESS) ?? []);
  return others.length === 0 ? (first ?? null) : null;
}
