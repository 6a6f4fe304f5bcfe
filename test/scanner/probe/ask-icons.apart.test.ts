/** The scan requests an icon with GET if the HEAD request failed. */
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { RequestCache } from '../../../src/scanner/probe/client/request-cache.ts';
import { askIcons, askIconsByGet } from '../../../src/scanner/probe/second-wave.ts';
import { clientFor, startOrigin } from './client/harness.ts';

const ICON_PLAN = { paths: ['/favicon.ico'], otherHosts: [], inline: false };

test.each([403, 404, 405, 410, 500, 501])(
  'an icon whose router answers %i to HEAD is requested with GET',
  async (status) => {
    const { requests, icons } = await requestIcons(({ method }) =>
      method === 'HEAD' ? status : 200,
    );
    expect(requests).toEqual(['HEAD /favicon.ico', 'GET /favicon.ico']);
    expect(icons.checked).toMatchObject([{ answer: { ok: true, data: { status: 200 } } }]);
  },
);

test('an icon that HEAD finds is not requested again', async () => {
  const { requests } = await requestIcons(() => 200);
  expect(requests).toEqual(['HEAD /favicon.ico']);
});

async function requestIcons(statusOf: (request: IncomingMessage) => number) {
  const target = await startOrigin((request, response) => {
    response.writeHead(statusOf(request), { 'content-type': 'image/png' }).end();
  });
  const cache = new RequestCache(clientFor(target), target.origin);
  const icons = await askIconsByGet(cache, ICON_PLAN, await askIcons(cache, ICON_PLAN));
  return { requests: target.requests, icons };
}
