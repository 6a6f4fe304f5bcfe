import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { askPartners } from '../../../src/scanner/indexes/create-standing.ts';
import { requestContext } from './request-context.ts';

const PARTNERS_URL = 'https://www.x402.example';
const WEATHER = {
  name: 'Weather',
  description: 'Forecasts',
  logoUrl: '/logos/weather.png',
  websiteUrl: 'https://weather.example.com',
  category: 'Services/Endpoints',
};

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

const mockListing = (path = '/ecosystem') => nock(PARTNERS_URL).get(path);
const lookup = (base = PARTNERS_URL) => askPartners(base, requestContext());

describe('the listing of partners', () => {
  test.each([
    ['a list', [WEATHER, { name: 7, websiteUrl: 'https://b.example' }, { name: 'no site' }, null]],
    [
      'a list in an object with other members',
      { errors: [], partners: [WEATHER, { websiteUrl: 'https://b.example' }] },
    ],
  ])('is read from %s', async (_title, json) => {
    mockListing().reply(200, JSON.stringify(json));
    expect(await lookup()).toEqual({
      ok: true,
      value: [
        { name: 'Weather', website: 'https://weather.example.com' },
        { name: null, website: 'https://b.example' },
      ],
    });
  });

  test('is read from plain and escaped JSON in the scripts of a page', async () => {
    const record = JSON.stringify(WEATHER);
    const pushed = JSON.stringify(`5:${JSON.stringify({ websiteUrl: 'https://b.example/x' })}`);
    const page = `<!doctype html><script type="application/json">[${record}]</script><script>self.__next_f.push([1,${pushed}])</script>`;
    mockListing().reply(200, page);
    expect(await lookup()).toEqual({
      ok: true,
      value: [
        { name: null, website: 'https://weather.example.com' },
        { name: null, website: 'https://b.example/x' },
      ],
    });
  });

  test('is requested at the configured URL', async () => {
    mockListing('/api/partners').reply(200, [WEATHER]);
    expect(await lookup(`${PARTNERS_URL}/api/partners`)).toMatchObject({ ok: true });
  });

  test.each(['[]', '{}', 'null', '"text"', '<html>nobody</html>', '[{"name":"no site"}]'])(
    'without partner records (%s) is a failure, because its form may have changed',
    async (body) => {
      mockListing().reply(200, body);
      expect(await lookup()).toEqual({
        ok: false,
        detail: 'www.x402.example shows no partner records',
        pauseMs: 0,
      });
    },
  );

  test('fails if it answers an error, a redirect or too many bytes, or is busy', async () => {
    mockListing().reply(500, 'x');
    expect(await lookup()).toMatchObject({ ok: false, detail: 'www.x402.example answered 500' });
    mockListing().reply(308, '', { location: 'https://elsewhere.example/' });
    expect(await lookup()).toMatchObject({ ok: false, detail: 'www.x402.example answered 308' });
    mockListing().reply(200, 'x'.repeat(8 * 1024 * 1024 + 1));
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('more than'),
    });
    mockListing().reply(429, '', { 'retry-after': '30' });
    expect(await lookup()).toMatchObject({ ok: false, pauseMs: 30_000 });
  });

  test('that is busy for a moment is asked once more', async () => {
    mockListing().reply(503, '', { 'retry-after': '0' });
    mockListing().reply(200, [WEATHER]);
    expect(await lookup()).toMatchObject({ ok: true });
  });
});
