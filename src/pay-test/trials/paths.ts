import type { Bench } from '../bench.ts';
import { describeReply, isDelivery, isPaidBody } from '../replies.ts';
import type { Finding } from '../result.ts';
import type { Request } from '../seller-client.ts';

type Form = readonly [name: string, request: Partial<Request>];

/** T11: the route unpaid, under other names that a router may take for the same. */
export async function paths(bench: Bench): Promise<Finding> {
  const { paid } = bench;
  if (paid === null) return { status: 'not_run', evidence: 'no paid body to compare with' };
  const open: string[] = [];
  let isTold = false;
  const forms = formsOf(bench.route);
  for (const [name, request] of forms) {
    const reply = await bench.ask(request);
    if (!isDelivery(reply)) continue;
    if (request.method === 'HEAD') {
      if (Number(reply.headers['content-length']) !== paid.body.length) continue;
      isTold = true;
      open.push(`${name}: ${describeReply(reply)} with the length of the paid body`);
    } else if (isPaidBody(paid, reply.body)) {
      open.push(`${name} ${request.path ?? ''}: ${describeReply(reply)} with what is sold`);
    }
  }
  const gifts = open.length - (isTold ? 1 : 0);
  if (gifts > 0) return { status: 'fail', evidence: open.join('; '), isGift: true };
  if (isTold) return { status: 'warn', evidence: open.join('; ') };
  return { status: 'pass', evidence: `${forms.length} unpaid forms of it: none delivers` };
}

function formsOf({ method, path: whole }: Bench['route']): readonly Form[] {
  const [path = '/', query] = whole.split('?', 2);
  const end = query === undefined ? '' : `?${query}`;
  const last = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, last), path.slice(last + 1)];
  const letter = /[a-z]/i.exec(name)?.index ?? -1;
  const encoded = `%${name.charCodeAt(letter).toString(16)}`;
  const at = (changed: string): Partial<Request> => ({ path: `${changed}${end}` });
  const swapped = path.replace(/[a-z]/gi, (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  );
  const other = method === 'GET' ? 'POST' : 'GET';
  const headers = (name: string, value: string) => ({ headers: { [name]: value } });
  return [
    ['trailing slash', at(`${path}/`)],
    ['doubled slash', at(`/${path}`)],
    ['doubled slash', at(`${folder}//${name}`)],
    ['case', at(swapped)],
    ['case', at(`${folder}/${name.charAt(0).toUpperCase()}${name.slice(1)}`)],
    ['%2f', at(`${folder}%2f${name}`)],
    ['%2f', at(`${path}%2f`)],
    ...(letter === -1
      ? []
      : [
          [
            'encoded letter',
            at(`${folder}/${name.slice(0, letter)}${encoded}${name.slice(letter + 1)}`),
          ] as const,
        ]),
    [';x=y', at(`${path};x=y`)],
    ['/./', at(`${folder}/./${name}`)],
    ['query', { path: `${path}?${query === undefined ? '' : `${query}&`}x=y` }],
    ['query', { path: `${path}${end || '?'}` }],
    ['encoded query', { path: `${path}%3fx=y` }],
    ['fragment', { path: `${whole}#x` }],
    ['fragment', { path: `${path}%23x${end}` }],
    ...(method === 'GET' ? [['HEAD', { method: 'HEAD' }] as const] : []),
    ['OPTIONS', { method: 'OPTIONS' }],
    ['method override', { method: other, ...headers('x-http-method-override', method) }],
    ['method override', headers('x-http-method-override', other)],
    ['X-Original-URL', { path: '/', ...headers('x-original-url', whole) }],
    ['X-Original-URL', headers('x-original-url', '/')],
    ['Forwarded', headers('forwarded', 'for=127.0.0.1;host=localhost;proto=https')],
  ];
}
