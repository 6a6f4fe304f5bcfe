import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { askPartners } from '../../src/indexes/partners.ts';
import { requestContext } from './request-context.ts';

const HOST = 'https://www.x402.example';
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

const onListing = (path = '/ecosystem') => nock(HOST).get(path);
const lookup = (base = HOST) => askPartners(base, requestContext());

describe('the listing of partners', () => {
  test.each([
    ['a list', [WEATHER, { name: 7, websiteUrl: 'https://b.example' }, { name: 'no site' }, null]],
    [
      'a list in an object, beside others',
      { errors: [], partners: [WEATHER, { websiteUrl: 'https://b.example' }] },
    ],
  ])('is read from %s', async (_form, json) => {
    onListing().reply(200, JSON.stringify(json));
    expect(await lookup()).toEqual({
      ok: true,
      value: [
        { name: 'Weather', website: 'https://weather.example.com' },
        { name: null, website: 'https://b.example' },
      ],
    });
  });

  test('is read from the page that shows it, plain and escaped in scripts', async () => {
    const record = JSON.stringify(WEATHER);
    const pushed = JSON.stringify(`5:${JSON.stringify({ websiteUrl: 'https://b.example/x' })}`);
    const page = `<!doctype html><script type="application/json">[${record}]</script><script>self.__next_f.push([1,${pushed}])</script>`;
    onListing().reply(200, page);
    expect(await lookup()).toEqual({
      ok: true,
      value: [
        { name: null, website: 'https://weather.example.com' },
        { name: null, website: 'https://b.example/x' },
      ],
    });
  });

  test('may be at another address', async () => {
    onListing('/api/partners').reply(200, [WEATHER]);
    expect(await lookup(`${HOST}/api/partners`)).toMatchObject({ ok: true });
  });

  test.each(['[]', '{}', 'null', '"text"', '<html>nobody</html>', '[{"name":"no site"}]'])(
    'without partners (%s) has changed its form and gives no answer',
    async (body) => {
      onListing().reply(200, body);
      expect(await lookup()).toEqual({
        ok: false,
        detail: 'www.x402.example shows no partner records',
        quietMs: 0,
      });
    },
  );

  test('that errs, is too long or busy fails', async () => {
    onListing().reply(500, 'x');
    expect(await lookup()).toMatchObject({ ok: false, detail: 'www.x402.example answered 500' });
    onListing().reply(308, '', { location: 'https://elsewhere.example/' });
    expect(await lookup()).toMatchObject({ ok: false, detail: 'www.x402.example answered 308' });
    onListing().reply(200, 'x'.repeat(8 * 1024 * 1024 + 1));
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('more than'),
    });
    onListing().reply(429, '', { 'retry-after': '30' });
    expect(await lookup()).toMatchObject({ ok: false, quietMs: 30_000 });
  });

  test('that is busy for a moment is asked once more', async () => {
    onListing().reply(503, '', { 'retry-after': '0' });
    onListing().reply(200, [WEATHER]);
    expect(await lookup()).toMatchObject({ ok: true });
  });
});
