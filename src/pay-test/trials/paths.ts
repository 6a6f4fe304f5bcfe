import { isPaidBody } from '../paid-body.ts';
import { describeReply, isDelivery } from '../replies.ts';
import { notRun, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';
import type { Request } from '../seller-client.ts';

type Variant = readonly [name: string, request: Partial<Request>];

/** T11: the seller must not deliver to unpaid requests that a router may take for the paid route. */
export async function tryPaths(tester: RouteTester): Promise<TrialFinding> {
  const { paidAnswer } = tester;
  if (paidAnswer === null) return notRun('no paid body to compare with');
  const gifts: string[] = [];
  const headLengths: string[] = [];
  const variants = listPathVariants(tester.route.method, tester.path, tester.origin);
  for (const [name, request] of variants) {
    const reply = await tester.request(request);
    if (!isDelivery(reply)) continue;
    const reaction = `${name} ${request.path ?? ''}: ${describeReply(reply)}`;
    if (request.method !== 'HEAD') {
      if (isPaidBody(paidAnswer, reply.body))
        gifts.push(`${reaction} with the body of the resource`);
    } else if (Number(reply.headers['content-length']) === paidAnswer.body.length) {
      headLengths.push(`HEAD: ${describeReply(reply)} with the length of the paid body`);
    }
  }
  const evidence = [...gifts, ...headLengths].join('; ');
  if (gifts.length > 0) return { status: 'fail', evidence, isGift: true };
  if (headLengths.length > 0) return { status: 'warn', evidence };
  return { status: 'pass', evidence: `${variants.length} unpaid variants: none delivers` };
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
    ...withPath('doubled slash', `/${path}`, `${folder}//${name}`),
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
    ['OPTIONS', { method: 'OPTIONS' }],
    withHeader('method override', 'x-http-method-override', method, { method: otherMethod }),
    withHeader('method override', 'x-http-method-override', otherMethod),
    withHeader('X-Original-URL', 'x-original-url', target, { path: '/' }),
    withHeader('X-Original-URL', 'x-original-url', '/'),
    withHeader('Forwarded', 'forwarded', 'for=127.0.0.1;host=localhost;proto=https'),
  ];
}
