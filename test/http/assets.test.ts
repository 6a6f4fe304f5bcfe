/** The files that pages load. */
import { expect, test } from 'vitest';
import { startApp } from '../fixtures/service/start-app.ts';

test('a page loads its files once an hour, and again only where they changed', async () => {
  await using service = await startApp();
  for (const [path, type] of [
    ['/assets/site.css', 'text/css; charset=utf-8'],
    ['/assets/copy.js', 'application/javascript; charset=utf-8'],
  ] as const) {
    const first = await service.get(path);
    expect([first.statusCode, first.headers['content-type']]).toEqual([200, type]);
    expect(first.headers['cache-control']).toBe('public, max-age=3600');
    const etag = String(first.headers.etag);
    const again = await service.get(path, { 'if-none-match': etag });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
    const other = await service.get(path, { 'if-none-match': '"another"' });
    expect(other.body).toBe(first.body);
  }
});

test.each(['/assets/', '/assets/none.css', '/assets/..%2ftemplates%2flayout.eta'])(
  'there is nothing at %s',
  async (path) => {
    await using service = await startApp();
    expect((await service.get(path)).statusCode).toBe(404);
  },
);
