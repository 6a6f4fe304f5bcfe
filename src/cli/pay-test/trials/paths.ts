import { randomBytes } from 'node:crypto';
import { describeReply, isDelivery, isPaidBody } from '../replies.ts';
import type { TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';
import type { Request, SellerAnswer, SellerReply } from '../seller-client.ts';

type Variant = readonly [name: string, request: Partial<Request>];

const BODY_FIX =
  'Ask for the payment before the body is read, and answer 402 to a body that cannot be read.';
const HEAD_FIX = 'Guard HEAD on this path as you guard GET (explain P5 shows the code).';

/** Judges a body, or for HEAD its length. */
type Comparison = {
  readonly isSold: (reply: SellerAnswer, request: Partial<Request>) => Promise<boolean> | boolean;
  readonly isSoldLength: (length: number) => boolean;
  /** Says what the body is. */
  readonly words: string;
};

/** T11: the seller must not deliver to unpaid requests that a router may take for the paid route. */
export async function tryPaths(tester: RouteTester): Promise<TrialFinding> {
  const { paidAnswer } = tester;
  const comparison =
    paidAnswer === null ? await compareWithFree(tester) : compareWithPaid(paidAnswer);
  const { gifts, lengthLeaks, variantCount, isByBody } = await listDeliveries(tester, comparison);
  const evidence = [...gifts, ...lengthLeaks].join('; ');
  if (gifts.length > 0 && paidAnswer !== null) {
    const fix = isByBody ? { fix: BODY_FIX } : {};
    return { status: 'fail', evidence, isGift: true, ...fix };
  }
  if (gifts.length > 0) return { status: 'warn', evidence };
  if (lengthLeaks.length > 0) return { status: 'warn', evidence, fix: HEAD_FIX };
  return { status: 'pass', evidence: `${variantCount} unpaid variants: none delivers` };
}

async function listDeliveries(tester: RouteTester, { isSold, isSoldLength, words }: Comparison) {
  const gifts: string[] = [];
  // HEAD answers with the length of a body that an unpaid GET does not get.
  const lengthLeaks: string[] = [];
  const giftRequests: Partial<Request>[] = [];
  const variants = listPathVariants(tester.route.method, tester.path, tester.origin);
  for (const [name, request] of variants) {
    const reply = await tester.request(request);
    if (!isDelivery(reply)) continue;
    const variant = [name, request.path].filter((part) => part !== undefined).join(' ');
    const reaction = `${variant}: ${describeReply(reply)}`;
    if (request.method !== 'HEAD') {
      if (!(await isSold(reply, request))) continue;
      gifts.push(`${reaction} with ${words}`);
      giftRequests.push(request);
    } else if (isSoldLength(Number(reply.headers['content-length']))) {
      lengthLeaks.push(`HEAD: ${describeReply(reply)} with the length of ${words}`);
    }
  }
  // The seller delivers to a body that it cannot read, and to no other spelling of the path.
  const isByBody =
    giftRequests.some(({ body }) => body !== undefined) &&
    giftRequests.every(({ path }) => path === undefined);
  return { gifts, lengthLeaks, variantCount: variants.length, isByBody };
}

function compareWithPaid(paid: SellerAnswer): Comparison {
  return {
    isSold: ({ body }) => isPaidBody(paid, body),
    isSoldLength: (length) => length === paid.body.length,
    words: 'the body of the resource',
  };
}

/** Without a paid body, a 2xx is suspect if it is neither the body of the 402 nor that of a page for everybody. */
async function compareWithFree(tester: RouteTester): Promise<Comparison> {
  const randomPath = `/${randomBytes(12).toString('hex')}`;
  const answers = new Map<string, Promise<SellerReply>>();
  const ask = (method: string, path: string) => {
    const key = `${method} ${path}`;
    const answer = answers.get(key) ?? tester.request({ method, path });
    answers.set(key, answer);
    return answer;
  };
  const { method: ownMethod } = tester.route;
  const challenge = await tester.request();
  const randomReply = await ask(ownMethod, randomPath);
  const lengths = [challenge, randomReply].flatMap((reply) =>
    reply.ok ? [reply.body.length] : [],
  );
  return {
    isSold: async (reply, { method = ownMethod, path = tester.path }) => {
      // Some servers answer OPTIONS with the list of methods as the body.
      const isMethodList = reply.headers['allow'] === reply.body.toString('utf8');
      if (reply.body.length === 0 || isMethodList) return false;
      // A request for "/" gets the home page, unless a header leads to the paid route.
      const freePaths = path === '/' ? [randomPath, '/'] : [randomPath];
      const free = await Promise.all(freePaths.map((freePath) => ask(method, freePath)));
      return ![challenge, ...free].some(
        (other) => other.ok && isSamePage(reply, path, other, randomPath),
      );
    },
    isSoldLength: (length) => length > 0 && !lengths.includes(length),
    words: 'a body that is neither that of the 402 nor that of a random path',
  };
}

/** Pages for everybody may repeat the requested path. */
function isSamePage(one: SellerAnswer, path: string, other: SellerAnswer, otherPath: string) {
  const toText = ({ body }: SellerAnswer, ownPath: string) =>
    ownPath === '/' ? body.toString('utf8') : body.toString('utf8').replaceAll(ownPath, '');
  return isPaidBody(other, one.body) || toText(one, path) === toText(other, otherPath);
}

/** Lists requests that some routers treat as requests for `target`, which is the path with its query. */
export function listPathVariants(
  method: string,
  target: string,
  origin: string,
): readonly Variant[] {
  const [path = '/', query] = target.split('?', 2);
  const querySuffix = query === undefined ? '' : `?${query}`;
  const lastSlash = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, lastSlash), path.slice(lastSlash + 1)];
  const withPath = (label: string, ...changed: string[]): Variant[] =>
    changed.map((changedPath) => [label, { path: `${changedPath}${querySuffix}` }]);
  const withHeader = (label: string, header: string, value: string, otherChanges = {}): Variant => [
    label,
    { ...otherChanges, headers: { [header]: value } },
  ];
  const swappedCase = path.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const joinBy = (separator: string) => `${folder === '' ? '/' : folder}${separator}${name}`;
  const toBackslashes = (slashed: string) => slashed.replaceAll('/', '\\');
  const laterBackslashes = `/${toBackslashes(path.slice(1))}`;
  const encodedName = name.replace(/[a-z]/i, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const otherMethod = method === 'GET' ? 'POST' : 'GET';
  return [
    ...withPath('trailing slash', `${path}/`),
    // Before a path of one segment the two are one spelling.
    ...withPath('doubled slash', ...new Set([`/${path}`, `${folder}//${name}`])),
    ...withPath('case', swappedCase, `${folder}/${name.charAt(0).toUpperCase()}${name.slice(1)}`),
    ...withPath('%2f', joinBy('%2f'), `${path}%2f`),
    ...withPath('encoded separator', joinBy('%5c'), joinBy('%252f')),
    ...(laterBackslashes === path ? [] : withPath('backslash', laterBackslashes)),
    ...withPath('backslash', `/${toBackslashes(path)}`),
    ...withPath('line end', `${path}%0A`, `${path}%0Aa`),
    ...withPath('malformed %', `${path}%`, `${path}%c0`),
    ['absolute form', { path: `${origin}${target}` }],
    ...(encodedName === name ? [] : withPath('encoded letter', `${folder}/${encodedName}`)),
    ...withPath(';x=y', `${path};x=y`),
    ...withPath('/./', `${folder}/./${name}`),
    ['query', { path: `${path}?${query === undefined ? '' : `${query}&`}x=y` }],
    ['query', { path: `${path}${querySuffix || '?'}` }],
    ['encoded query', { path: `${path}%3fx=y` }],
    ['fragment', { path: `${target}#x` }],
    ...withPath('fragment', `${path}%23x`),
    ...(method === 'GET' ? [['HEAD', { method: 'HEAD' }] as const] : []),
    // Guards that read the body to find the price or the method of JSON-RPC may let through what they cannot read.
    ...(method === 'POST' ? [['a body that is not JSON', { body: '{' }] as const] : []),
    ...(method === 'POST' ? [['an empty body', { body: '' }] as const] : []),
    ['OPTIONS', { method: 'OPTIONS' }],
    withHeader('method override', 'x-http-method-override', method, { method: otherMethod }),
    withHeader('method override', 'x-http-method-override', otherMethod),
    withHeader('X-Original-URL', 'x-original-url', target, { path: '/' }),
    withHeader('X-Original-URL', 'x-original-url', '/'),
    withHeader('Forwarded', 'forwarded', 'for=127.0.0.1;host=localhost;proto=https'),
  ];
}
