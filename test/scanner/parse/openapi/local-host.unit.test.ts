/** Hosts in `servers` that mean "here", and hosts that are other sellers. */
import { expect, test } from 'vitest';
import { parseOpenApi } from '../../../../src/scanner/parse/openapi/openapi.ts';
import { isLocalHost } from '../../../../src/scanner/parse/openapi/openapi-path.ts';

test.each([
  ['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '10.0.0.7', '172.16.3.4', '192.168.1.5'],
  ['api', 'my_host', 'shop.local', 'api.internal', 'api.localhost'],
  ['example.com', 'api.example.org', 'shop.example', 'yourdomain.com', 'api.your-domain.dev'],
  ['your-app.vercel.app', 'mydomain.com', 'changeme.dev'],
])('%s and the like are not another seller', (...hosts) => {
  expect(hosts.filter((host) => !isLocalHost(host, 'seller.dev'))).toEqual([]);
});

test.each(['api.acme.dev', 'yourstory.com', 'myapi.dev', '8.8.8.8', 'project.functions.example'])(
  '%s is another seller',
  (host) => {
    expect(isLocalHost(host, 'seller.dev')).toBe(false);
  },
);

test.each([
  ['https://seller.dev', ['http://localhost:3000/v1'], '/v1/x', '/servers/0'],
  ['https://seller.dev', ['https://api.acme.dev', 'http://localhost:3000/v1'], null, null],
  ['https://seller.dev', ['http://localhost:3000', '/v2'], '/v2/x', null],
  ['http://127.0.0.1:4021', ['http://localhost:4021/v1'], '/v1/x', null],
  ['http://127.0.0.1:4021', ['http://localhost:3000/v1', 'https://api.acme.dev'], '/v1/x', null],
  ['http://[::1]:4021', ['http://127.0.0.1:4021'], '/x', null],
])('of %s with the servers %j, the request is %s', (origin, urls, path, localServer) => {
  const servers = urls.map((url) => ({ url }));
  const document = { openapi: '3.1.0', servers, paths: { '/x': { get: {} } } };
  const [operation] = parseOpenApi(document, `${origin}/openapi.json`).operations;
  expect(operation).toMatchObject({ localServer });
  if (path === null) expect(operation?.elsewhere).toBe('https://api.acme.dev');
  else expect(operation).toMatchObject({ requestPath: path, elsewhere: null });
});
