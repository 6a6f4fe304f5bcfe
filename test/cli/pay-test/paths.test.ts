import { expect, test } from 'vitest';
import { listPathVariants } from '../../../src/cli/pay-test/trials/paths.ts';

const ORIGIN = 'http://127.0.0.1:3000';

function listPaths(method: string, path: string): readonly string[] {
  return listPathVariants(method, path, ORIGIN).flatMap(([, request]) => request.path ?? []);
}

test.each([
  '/v1/ledger/?a=1',
  '//v1/ledger?a=1',
  '/v1%2fledger?a=1',
  '/v1%5cledger?a=1',
  '/v1%252fledger?a=1',
  '/v1\\ledger?a=1',
  '/\\v1\\ledger?a=1',
  '/v1/ledger%0A?a=1',
  '/v1/ledger%0Aa?a=1',
  '/v1/ledger%?a=1',
  '/v1/ledger%c0?a=1',
  '/v1/./ledger?a=1',
  '/v1/ledger;x=y?a=1',
  'http://127.0.0.1:3000/v1/ledger?a=1',
])('%s is listed as another spelling of /v1/ledger?a=1', (spelling) => {
  expect(listPaths('GET', '/v1/ledger?a=1')).toContain(spelling);
});

test.each(['/ledger', '/v1/ledger'])('no spelling of %s is listed twice', (path) => {
  const slashed = listPaths('POST', path).filter((spelling) => spelling.includes('//'));
  expect(new Set(slashed).size).toBe(slashed.length);
});

test('each listed spelling of a path of one segment begins with a slash or the origin, and differs from the path', () => {
  const paths = listPaths('GET', '/ledger');
  expect(paths).toEqual(expect.arrayContaining(['/\\ledger', '/%2fledger', '/%5cledger']));
  expect(paths.filter((path) => !path.startsWith('/') && !path.startsWith(ORIGIN))).toEqual([]);
  expect(paths).not.toContain('/ledger');
});
