/** Every answer has the content type of its path. This includes repeated answers, errors and answers to HEAD. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../../fixtures/service/start-app.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const HOST = 'shop.example.com';

const TYPE_BY_PATH: Readonly<Record<string, string>> = {
  '/health': JSON_TYPE,
  '/v1/checks': JSON_TYPE,
  [`/v1/status?url=${HOST}`]: JSON_TYPE,
  '/v1/status?url=never.example.com': JSON_TYPE,
  '/v1/status?url=10.0.0.1': JSON_TYPE,
  '/v1/status': JSON_TYPE,
  '/v1/directory': JSON_TYPE,
  '/v1/directory?page=3&sort=grade': JSON_TYPE,
  '/v1/directory?q=shop': JSON_TYPE,
  '/v1/directory?page=x': JSON_TYPE,
  '/v1/scan': JSON_TYPE,
  '/v1/nothing': JSON_TYPE,
  '/openapi.json': JSON_TYPE,
  '/.well-known/x402': JSON_TYPE,
  '/llms.txt': 'text/plain; charset=utf-8',
  '/': 'text/html; charset=utf-8',
  [`/o/${HOST}`]: 'text/html; charset=utf-8',
  [`/badge/${HOST}.svg`]: 'image/svg+xml',
};

describe.each(['0.1.0', '0.3.0'] as const)('revision %s', (revision) => {
  test.each(Object.entries(TYPE_BY_PATH))(
    'answers %s with the content type %s',
    async (url, type) => {
      await using service = await startApp({ revision, environment: { RATE_LIMIT: 'off' } });
      await service.publish(HOST);
      const types: unknown[] = [];
      for (const method of ['GET', 'GET', 'HEAD', 'GET'] as const) {
        const { headers, payload } = await service.app.inject({ method, url });
        types.push(headers['content-type']);
        if (type === JSON_TYPE && method === 'GET') expect(() => JSON.parse(payload)).not.toThrow();
      }
      expect(new Set(types)).toEqual(new Set([type]));
    },
  );
});
