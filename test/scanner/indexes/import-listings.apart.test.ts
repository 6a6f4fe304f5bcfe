import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import {
  type ImportOptions,
  importListings,
} from '../../../src/scanner/indexes/import-listings.ts';
import type { ImportedListing, ImportSource } from '../../../src/scanner/indexes/listing-page.ts';
import { createAnswerReader } from '../../../src/scanner/third-parties/answer-reader.ts';
import { bazaarItem, resourceRow, trpc } from './recorded-answers.ts';
import { type StandIn, type StandInAnswer, startStandIn } from './stand-in.ts';

const MIB = 1024 * 1024;
const answers = createAnswerReader();
afterAll(() => answers.close());

/** The page that a request asks for. */
type PageRequest = { readonly limit: number; readonly offset: number };

const urlAt = (at: number) => `https://weather.example.com/paid/${at}`;
const bazaarRow = (at: number) => ({ ...bazaarItem(null), resource: urlAt(at) });
const createRows = (total: number, { limit, offset }: PageRequest, rowAt: (at: number) => object) =>
  Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, at) =>
    rowAt(offset + at),
  );

function bazaarPage(total: number, request: PageRequest): StandInAnswer {
  const pagination = { ...request, total };
  return { json: { x402Version: 2, items: createRows(total, request, bazaarRow), pagination } };
}

function readPageRequest(path: string): PageRequest {
  const { searchParams } = new URL(path, 'http://index');
  return {
    limit: Number(searchParams.get('limit')),
    offset: Number(searchParams.get('offset')),
  };
}

let index: StandIn;
afterEach(async () => {
  vi.restoreAllMocks();
  await index.close();
});

const located = (path: string) => ({
  ...{ origin: parseOrigin('https://weather.example.com'), domain: 'example.com', path },
});

type AnswerPage = (page: PageRequest, path: string) => StandInAnswer;

/** Imports an index that answers with `answer`. `maxOpen` is the greatest number of requests at the same time. */
async function importFrom(
  answer: AnswerPage,
  {
    source = 'bazaar',
    ...overrides
  }: Partial<ImportOptions> & { readonly source?: ImportSource } = {},
) {
  let [open, maxOpen] = [0, 0];
  index = await startStandIn(async ({ pathname, search }) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    await setImmediate();
    open -= 1;
    return answer(readPageRequest(`${pathname}${search}`), `${pathname}${search}`);
  });
  const pages: (readonly ImportedListing[])[] = [];
  const waits: number[] = [];
  const results: string[] = [];
  const options = {
    base: index.url,
    policy: DEFAULT_POLICY,
    userAgent: 'test',
    answers,
    wait: async (ms: number) => waits.push(ms),
    onRequest: (result: string) => results.push(result),
    ...overrides,
  };
  const result = await importListings(source, options, ({ listings }) => {
    pages.push(listings);
  });
  const urls = pages.flat().map(({ origin, path }) => origin.url + path);
  return {
    result,
    pages,
    urls,
    waits,
    results,
    maxOpen,
    requests: index.requestedPaths.map(readPageRequest),
  };
}

const listLimits = (requests: readonly PageRequest[]) => requests.map(({ limit }) => limit);
const listOffsets = (requests: readonly PageRequest[]) => requests.map(({ offset }) => offset);

describe('an import of the Bazaar', () => {
  test.each([
    [0, [0]],
    [999, [0]],
    [1_000, [0]],
    [1_001, [0, 1_000]],
    [2_040, [0, 1_000, 2_000]],
  ])('reads %d rows in pages of 1,000, one request at a time', async (total, expected) => {
    const { result, urls, requests, results, maxOpen } = await importFrom((page) =>
      bazaarPage(total, page),
    );
    expect(result).toEqual({ isComplete: true, pageCount: expected.length, detail: null });
    expect(listOffsets(requests)).toEqual(expected);
    expect(new Set(listLimits(requests))).toEqual(new Set([1_000]));
    expect(urls).toEqual(Array.from({ length: total }, (_, at) => urlAt(at)));
    expect(new Set(results)).toEqual(new Set(['read']));
    expect(maxOpen).toBe(1);
    expect(index.requestedPaths[0]).toBe(
      '/platform/v2/x402/discovery/resources?limit=1000&offset=0',
    );
  });

  test.each([
    [1_500, [0, 1_000]],
    [2_000, [0, 1_000, 2_000]],
  ])(
    'of %d rows ends with the first page that is not full, if the Bazaar names no total',
    async (total, expected) => {
      const { result, requests } = await importFrom((page) => ({
        json: { items: createRows(total, page, bazaarRow) },
      }));
      expect(result).toMatchObject({ isComplete: true });
      expect(listOffsets(requests)).toEqual(expected);
    },
  );

  test('lowers its limit to the number of rows that the Bazaar gives', async () => {
    const { result, urls, requests } = await importFrom(({ limit, offset }) =>
      bazaarPage(250, { limit: Math.min(limit, 100), offset }),
    );
    expect(result).toEqual({ isComplete: true, pageCount: 3, detail: null });
    expect(listLimits(requests)).toEqual([1_000, 100, 100]);
    expect(urls).toEqual(Array.from({ length: 250 }, (_, at) => urlAt(at)));
  });

  test('stops after 100 pages and is then incomplete', async () => {
    const { result, requests } = await importFrom(({ offset }) =>
      bazaarPage(1_001, { limit: 10, offset }),
    );
    expect(requests).toHaveLength(100);
    const detail = `${new URL(index.url).host} has more than 100 pages`;
    expect(result).toEqual({ isComplete: false, pageCount: 100, detail });
  });

  test('is incomplete if an empty page comes before the total is reached', async () => {
    const { result, requests } = await importFrom(({ offset }) =>
      bazaarPage(1_500, { limit: 0, offset }),
    );
    expect(requests).toHaveLength(1);
    expect(result).toMatchObject({ isComplete: false, pageCount: 1 });
  });

  test('gives each listing its method, terms, calls and payers', async () => {
    const quality = {
      l30DaysTotalCalls: 7,
      l30DaysUniquePayers: 2,
      lastCalledAt: '2026-08-19T10:00:00Z',
    };
    const extensions = { bazaar: { info: { input: { type: 'http', method: 'post' } } } };
    const items = [{ ...bazaarItem(quality), extensions }];
    const { pages } = await importFrom(() => ({ json: { items } }));
    const url = 'https://weather.example.com/paid';
    expect(pages).toEqual([
      [
        {
          ...located('/paid'),
          method: 'POST',
          bazaar: {
            resource: url,
            method: 'POST',
            terms: expect.objectContaining({ x402Version: 2 }),
            calls: 7,
            payers: 2,
            lastAt: '2026-08-19T10:00:00.000Z',
          },
        },
      ],
    ]);
  });
});

describe('an import of x402scan', () => {
  const readInput = (path: string) => {
    const { json } = JSON.parse(new URL(path, 'http://index').searchParams.get('input') ?? '{}');
    return json;
  };

  test('reads pages of 500, the newest rows first', async () => {
    const total = 1_020;
    const { result, urls } = await importFrom(
      (_, path) => {
        const { page, page_size: limit } = readInput(path).pagination;
        const items = createRows(total, { limit, offset: page * limit }, (at) =>
          resourceRow(urlAt(at)),
        );
        return { json: trpc({ items, total_count: total, page }) };
      },
      { source: 'x402scan' },
    );
    expect(result).toEqual({ isComplete: true, pageCount: 3, detail: null });
    expect(urls).toEqual(Array.from({ length: total }, (_, at) => urlAt(at)));
    expect(index.requestedPaths.map(readInput)).toEqual(
      [0, 1, 2].map((page) => ({
        pagination: { page, page_size: 500 },
        sorting: { id: 'lastUpdated', desc: true },
      })),
    );
    expect(index.requestedPaths[0]).toMatch('/api/trpc/public.resources.list.paginated?');
  });

  test('reads the method of a row and leaves out rows without payment options', async () => {
    const rows = [
      resourceRow(urlAt(0), { method: '' }),
      resourceRow(urlAt(1), { method: 'post' }),
      resourceRow(urlAt(2), { accepts: [] }),
    ];
    const { pages } = await importFrom(() => ({ json: trpc({ items: rows, total_count: 3 }) }), {
      source: 'x402scan',
    });
    expect(pages).toEqual([
      [
        { ...located('/paid/0'), method: null, bazaar: null },
        { ...located('/paid/1'), method: 'POST', bazaar: null },
      ],
    ]);
  });
});

describe.each([429, 503])('an index that is busy (%i)', (status) => {
  /** Answers one good page and is then busy for `times` requests. */
  const busyFor = (times: number, retryAfter: string): AnswerPage => {
    let busyLeft = times;
    return (page) => {
      if (page.offset === 0 || busyLeft === 0) return bazaarPage(1_500, page);
      busyLeft -= 1;
      return { status, retryAfter, json: 'later' };
    };
  };

  test.each([
    ['7', 7_000],
    ['0', 0],
    ['120', 120_000],
    ['3600', 120_000],
  ])('is asked again up to three times (Retry-After: %s)', async (retryAfter, waitMs) => {
    const { result, waits, results, urls } = await importFrom(busyFor(3, retryAfter));
    expect(result).toEqual({ isComplete: true, pageCount: 2, detail: null });
    expect(waits).toEqual([waitMs, waitMs, waitMs]);
    expect(results).toEqual(['read', 'busy', 'busy', 'busy', 'read']);
    expect(urls).toHaveLength(1_500);
  });

  test('ends the import at the fourth busy answer, and the rows read so far are kept', async () => {
    const { result, waits, urls } = await importFrom(busyFor(4, '1'));
    const detail = `${new URL(index.url).host} answered ${status}`;
    expect(result).toEqual({ isComplete: false, pageCount: 1, detail });
    expect(waits).toHaveLength(3);
    expect(urls).toHaveLength(1_000);
    expect(index.requestedPaths).toHaveLength(5);
  });
});

describe('a page of 17 MiB', () => {
  const padPage = (page: StandInAnswer): StandInAnswer =>
    page === 'hang' ? page : { json: { padding: 'x'.repeat(17 * MIB), page: page.json } };

  test('is requested again with a quarter of the limit, and later pages keep that limit', async () => {
    const { result, urls, requests, results } = await importFrom((page) =>
      page.limit > 250 ? padPage(bazaarPage(600, page)) : bazaarPage(600, page),
    );
    expect(result).toEqual({ isComplete: true, pageCount: 3, detail: null });
    expect(listLimits(requests)).toEqual([1_000, 250, 250, 250]);
    expect(listOffsets(requests)).toEqual([0, 0, 250, 500]);
    expect(results).toEqual(['too_large', 'read', 'read', 'read']);
    expect(urls).toEqual(Array.from({ length: 600 }, (_, at) => urlAt(at)));
  });

  test('loses no row of an index that rounds limits to tens and offsets to limits', async () => {
    const total = 1_150;
    const { result, urls } = await importFrom(({ limit, offset }) => {
      const roundedLimit = Math.min(1_000, Math.max(20, Math.round(limit / 10) * 10));
      const page = { limit: roundedLimit, offset: offset - (offset % roundedLimit) };
      return offset > 0 && limit > 100 ? padPage(bazaarPage(total, page)) : bazaarPage(total, page);
    });
    expect(result).toMatchObject({ isComplete: true });
    expect([...new Set(urls)]).toEqual(Array.from({ length: total }, (_, at) => urlAt(at)));
  });

  test('ends the import if even one row is too large', async () => {
    const { result, requests } = await importFrom((page) => padPage(bazaarPage(600, page)));
    expect(listLimits(requests)).toEqual([1_000, 250, 60, 10, 1]);
    const detail = expect.stringContaining('answered with more than 16777216 bytes');
    expect(result).toEqual({ isComplete: false, pageCount: 0, detail });
  });
});

describe('an import ends incomplete', () => {
  test.each<unknown>([
    null,
    [],
    {},
    { items: {} },
    { items: [1, 'x', null, []] },
    { items: [{ url: urlAt(1), accepts: [] }] },
    { resources: [{ resource: urlAt(1), quality: { l30DaysTotalCalls: '20' } }] },
    '<html>',
  ])('with an answer in an unknown shape: %j', async (json) => {
    for (const source of ['bazaar', 'x402scan'] as const) {
      const body = source === 'bazaar' ? json : trpc(json);
      const { result, requests, results } = await importFrom(() => ({ json: body }), { source });
      const detail = `${new URL(index.url).host} answered in an unknown shape`;
      expect(result).toEqual({ isComplete: false, pageCount: 0, detail });
      expect(requests).toHaveLength(1);
      expect(results).toEqual(['failed']);
      if (source === 'bazaar') await index.close();
    }
  });

  test.each([500, 404, 204])('with the status %i', async (status) => {
    const { result } = await importFrom(() => ({ status, json: { items: [bazaarRow(1)] } }));
    const detail = `${new URL(index.url).host} answered ${status}`;
    expect(result).toEqual({ isComplete: false, pageCount: 0, detail });
  });

  test('with a redirect, which is not followed', async () => {
    const { result, requests } = await importFrom((page, path) =>
      path.startsWith('/moved')
        ? bazaarPage(10, page)
        : { status: 302, location: '/moved', json: {} },
    );
    expect(result).toMatchObject({ detail: `${new URL(index.url).host} answered 302` });
    expect(requests).toHaveLength(1);
  });

  test('with a page that does not arrive within 30 s', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const timeoutSpy = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(300));
    const { result } = await importFrom((page) =>
      page.offset === 0 ? bazaarPage(1_500, page) : 'hang',
    );
    expect(timeoutSpy.mock.calls).toEqual([[30_000], [30_000]]);
    const detail = `${new URL(index.url).host} did not answer within 30000 ms`;
    expect(result).toEqual({ isComplete: false, pageCount: 1, detail });
  });

  test('when its signal aborts a request or a wait', async () => {
    const requestAbort = new AbortController();
    const aborted = await importFrom(
      () => {
        requestAbort.abort();
        return 'hang';
      },
      { signal: requestAbort.signal },
    );
    const detail = 'the import was stopped';
    expect(aborted.result).toEqual({ isComplete: false, pageCount: 0, detail });
    await index.close();

    const waitAbort = new AbortController();
    setTimeout(() => waitAbort.abort(), 100);
    index = await startStandIn(() => ({ status: 429, retryAfter: '120', json: '' }));
    const options = {
      base: index.url,
      policy: DEFAULT_POLICY,
      userAgent: 'test',
      answers,
      signal: waitAbort.signal,
    };
    expect(await importListings('bazaar', options, () => {})).toMatchObject({ detail });
    expect(index.requestedPaths).toHaveLength(1);
  });
});

test('an import rejects if its listings cannot be kept, and sends no further request', async () => {
  index = await startStandIn(({ search }) => bazaarPage(3_000, readPageRequest(`/${search}`)));
  const importRun = importListings(
    'bazaar',
    { base: index.url, policy: DEFAULT_POLICY, userAgent: 'test', answers },
    () => {
      throw new Error('the store is full');
    },
  );
  await expect(importRun).rejects.toThrow('the store is full');
  expect(index.requestedPaths).toHaveLength(1);
});
