import { isPaidBody } from '../paid-body.ts';
import { describeReply, isDelivery } from '../replies.ts';
import { notRun, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';
import type { Request } from '../seller-client.ts';

type Variant = readonly [name: string, request: Partial<Request>];

/** T11: unpaid requests that a router may take for the paid route. */
export async function paths(tester: RouteTester): Promise<TrialFinding> {
  const { paid } = tester;
  if (paid === null) return notRun('no paid body to compare with');
  const gifts: string[] = [];
  const lengths: string[] = [];
  const variants = variantsOf(tester.route.method, tester.path, tester.origin);
  for (const [name, request] of variants) {
    const reply = await tester.ask(request);
    if (!isDelivery(reply)) continue;
    const reaction = `${name} ${request.path ?? ''}: ${describeReply(reply)}`;
    if (request.method !== 'HEAD') {
      if (isPaidBody(paid, reply.body)) gifts.push(`${reaction} with the body of the resource`);
    } else if (Number(reply.headers['content-length']) === paid.body.length) {
      lengths.push(`HEAD: ${describeReply(reply)} with the length of the paid body`);
    }
  }
  const evidence = [...gifts, ...lengths].join('; ');
  if (gifts.length > 0) return { status: 'fail', evidence, isGift: true };
  if (lengths.length > 0) return { status: 'warn', evidence };
  return { status: 'pass', evidence: `${variants.length} unpaid variants: none delivers` };
}

/** Requests that some routers take for `whole`, the path with its query. */
export function variantsOf(method: string, whole: string, origin: string): readonly Variant[] {
  const [path = '/', query] = whole.split('?', 2);
  const end = query === undefined ? '' : `?${query}`;
  const last = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, last), path.slice(last + 1)];
  const at = (label: string, ...changed: string[]): Variant[] =>
    changed.map((one) => [label, { path: `${one}${end}` }]);
  const withHeader = (label: string, header: string, value: string, more = {}): Variant => [
    label,
    { ...more, headers: { [header]: value } },
  ];
  const swapped = path.replace(/[a-z]/gi, (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  );
  const joined = (separator: string) => `${folder === '' ? '/' : folder}${separator}${name}`;
  const backslashes = (slashed: string) => slashed.replaceAll('/', '\\');
  const later = `/${backslashes(path.slice(1))}`;
  const encoded = name.replace(/[a-z]/i, (one) => `%${one.charCodeAt(0).toString(16)}`);
  const other = method === 'GET' ? 'POST' : 'GET';
  return [
    ...at('trailing slash', `${path}/`),
    ...at('doubled slash', `/${path}`, `${folder}//${name}`),
    ...at('case', swapped, `${folder}/${name.charAt(0).toUpperCase()}${name.slice(1)}`),
    ...at('%2f', joined('%2f'), `${path}%2f`),
    ...at('encoded separator', joined('%5c'), joined('%252f')),
    ...(later === path ? [] : at('backslash', later)),
    ...at('backslash', `/${backslashes(path)}`),
    ...at('line end', `${path}%0A`, `${path}%0Aa`),
    ...at('malformed %', `${path}%`, `${path}%c0`),
    ['absolute form', { path: `${origin}${whole}` }],
    ...(encoded === name ? [] : at('encoded letter', `${folder}/${encoded}`)),
    ...at(';x=y', `${path};x=y`),
    ...at('/./', `${folder}/./${name}`),
    ['query', { path: `${path}?${query === undefined ? '' : `${query}&`}x=y` }],
    ['query', { path: `${path}${end || '?'}` }],
    ['encoded query', { path: `${path}%3fx=y` }],
    ['fragment', { path: `${whole}#x` }],
    ...at('fragment', `${path}%23x`),
    ...(method === 'GET' ? [['HEAD', { method: 'HEAD' }] as const] : []),
    ['OPTIONS', { method: 'OPTIONS' }],
    withHeader('method override', 'x-http-method-override', method, { method: other }),
    withHeader('method override', 'x-http-method-override', other),
    withHeader('X-Original-URL', 'x-original-url', whole, { path: '/' }),
    withHeader('X-Original-URL', 'x-original-url', '/'),
    withHeader('Forwarded', 'forwarded', 'for=127.0.0.1;host=localhost;proto=https'),
  ];
}
