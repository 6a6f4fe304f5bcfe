/** Python's feedparser reads the feed of a host without a complaint. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ensurePythonJudges } from '../../fixtures/judges/python-judges.ts';
import { needs } from '../../fixtures/needs.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

const run = promisify(execFile);
const HOST = 'shop.example.com';

/** Reads a feed, then requests it again with the ETag and with the date of the first answer. */
const SCRIPT = `
import feedparser, json, sys
feed = feedparser.parse(sys.argv[1])
by_etag = feedparser.parse(sys.argv[1], etag=feed.etag)
by_date = feedparser.parse(sys.argv[1], modified=feed.modified)
print(json.dumps({
  "bozo": bool(feed.bozo), "version": feed.version, "title": feed.feed.title, "id": feed.feed.id,
  "again": [by_etag.status, by_date.status],
  "entries": [[entry.id, entry.title, entry.link, entry.updated] for entry in feed.entries],
}))
`;

const judges = await ensurePythonJudges(['feedparser==6.0.12']);

test(
  'feedparser reads every entry, and gets 304 while the feed is unchanged',
  needs('python' in judges ? null : judges.unavailable),
  async () => {
    await using service = await startApp();
    await service.publish(HOST, { grade: 'F', score: 30, report: { payableBy: 'nobody' } });
    service.advance(3_600_000);
    await service.publish(HOST, { grade: 'A', score: 95, report: { payableBy: 'default' } });
    const server = createServer(async ({ url = '/', headers }, response) => {
      const requestHeaders = Object.entries(headers).map(([name, value]) => [name, String(value)]);
      const answer = await service.get(url, Object.fromEntries(requestHeaders));
      response.writeHead(answer.statusCode, { ...answer.headers }).end(answer.rawPayload);
    });
    await using local = await listenLocally(server);
    const url = `${local.url}/o/${HOST}/feed.atom`;
    const { stdout } = await run('python' in judges ? judges.python : '', ['-c', SCRIPT, url]);
    const report = `https://scanner.example/o/${HOST}`;
    const at = '2026-09-01T13:00:00.000Z';
    const tag = `tag:scanner.example,2026-09-01:o/${HOST}`;
    expect(JSON.parse(stdout)).toEqual({
      bozo: false,
      version: 'atom10',
      title: `${HOST}: x402 conformance`,
      id: tag,
      again: [304, 304],
      entries: [
        [
          `${tag}/payability/${at}`,
          `${HOST}: no client can pay → default clients can pay`,
          report,
          at,
        ],
        [`${tag}/grade/${at}`, `${HOST}: grade F → A, score 95, checks 2026-08-14.2`, report, at],
        [
          `${tag}/first-seen`,
          `${HOST}: first scan: grade F, score 30, no client can pay`,
          report,
          '2026-09-01T12:00:00.000Z',
        ],
      ],
    });
  },
);
