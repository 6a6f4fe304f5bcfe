/** Computes the word of each day again, only from the requests that the sellers logged. */
import type { DayWord } from '../../../../src/scanner/model/payability.ts';
import type { OwnVerdict } from './kinds.ts';
import type { LoggedRequest } from './seller-server.ts';
import type { Seller } from './world.ts';

/** The requests of one day to one seller, and its facts. */
export type SellerDay = {
  readonly seller: Seller;
  readonly requests: readonly LoggedRequest[];
  readonly isScanDay: boolean;
};

export const ROBOTS_PATH = '/robots.txt';

/** Returns null if no request reached a resource. The log then does not decide the word. */
export function recountWord({ seller, requests, isScanDay }: SellerDay): DayWord | null {
  const verdicts = requests
    .filter((one) => isOfResource(seller, one) && (!isScanDay || isByItsMethod(seller, one)))
    .map((one) => one.told);
  if (verdicts.length === 0) return null;
  // A redirect decides no word, because the request that followed it does.
  const words = verdicts.filter((one): one is Exclude<OwnVerdict, 'moved' | 'other'> =>
    isWord(one),
  );
  if (words.length === 0) return 'not_checked';
  if (words.includes('payable')) return 'payable';
  if (words.every((word) => word === 'down')) return 'down';
  return words.includes('not_payable') ? 'not_payable' : 'not_checked';
}

function isWord(told: OwnVerdict): boolean {
  return told !== 'moved' && told !== 'other';
}

function isOfResource({ kind, paths }: Seller, { path }: LoggedRequest): boolean {
  return paths.includes(path) || kind.beyond?.[path] !== undefined || path.startsWith('/more/');
}

/** A scan tries other methods too, and an origin without listed paths sells by several. */
function isByItsMethod({ method, paths }: Seller, request: LoggedRequest): boolean {
  return paths.length === 0 || request.method === method;
}

/**
 * Lists the requests over the limit: one for each listed resource, one more after a redirect, and one for robots.txt.
 * A GET whose idle connection was closed before any answer is sent once more (RFC 9110, 9.2.2). Otherwise every server
 * that closes idle connections would count as down.
 */
export function excessOf({ seller, requests }: SellerDay): readonly string[] {
  const counts = new Map<string, number>();
  for (const { method, path } of requests) {
    const name = `${method} ${path}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const most = seller.kindName === 'cut' ? 2 : 1;
  const repeated = [...counts].filter(([, count]) => count > most).map(([name]) => `${name} again`);
  const moves = requests.filter(({ told }) => told === 'moved').length;
  const beyond = requests.filter(
    ({ path }) => seller.kind.beyond?.[path] && seller.paths.length > 0,
  );
  const listed = requests.filter(({ path }) => isListed(seller, path));
  const paths = new Set(listed.map(({ path }) => path));
  const unknown = requests.filter(
    (one) => one.path !== ROBOTS_PATH && !listed.includes(one) && !beyond.includes(one),
  );
  return [
    ...repeated,
    ...(beyond.length > moves ? [`${beyond.length} requests behind ${moves} redirects`] : []),
    ...(paths.size > 2 ? [`${paths.size} resources`] : []),
    ...unknown.map(({ method, path }) => `${method} ${path}, which is not listed`),
  ];
}

function isListed({ standing, paths, kind }: Seller, path: string): boolean {
  if (paths.length === 0) return kind.beyond?.[path] !== undefined;
  return paths.includes(path) || (standing === 'farm' && path.startsWith('/more/'));
}
