import { expect, test } from 'vitest';
import P2v1 from '../../checks/P2-x402-challenge/v1.ts';
import P2v2 from '../../checks/P2-x402-challenge/v2.ts';
import S1 from '../../checks/S1-openapi-present/v1.ts';
import S6 from '../../checks/S6-well-known-x402/v1.ts';
import type { ResourceSet } from '../../src/model/observations.ts';
import { createKit } from '../../src/parse/kit/kit.ts';
import {
  html,
  perfectSeller,
  resource,
  resources,
} from '../fixtures/observations/build-observations.ts';

const FORBIDDEN = html(403, '<html><title>Attention Required!</title></html>');
const BLOCKED_RESOURCE = resource({ get: FORBIDDEN, head: FORBIDDEN });

test.each([P2v1, P2v2])(
  'the fix of P2 version $version names a firewall if all paid paths answer 403',
  (check) => {
    const fixFor = (observations: ResourceSet) =>
      check.evaluate({ resources: observations }, createKit()).fix;
    expect(fixFor(resources([BLOCKED_RESOURCE]))).toContain('firewall');
    expect(fixFor(resources([BLOCKED_RESOURCE, resource({ path: '/b' })]))).toContain('firewall');
    const looked = ['/openapi.json: 403', '/llms.txt: 403'];
    expect(fixFor(resources([], { looked }))).toContain('firewall');
    const broken = resource({ path: '/c', get: html(500, 'x') });
    expect(fixFor(resources([BLOCKED_RESOURCE, broken]))).not.toContain('firewall');
  },
);

test('the fixes of S1 and S6 name a firewall if the documents answer 403', () => {
  const observations = {
    ...perfectSeller(),
    ...{ openapi: FORBIDDEN, manifest: FORBIDDEN, manifestJson: FORBIDDEN },
  };
  expect(S1.evaluate(observations, createKit()).fix).toContain('firewall');
  expect(S6.evaluate(observations, createKit()).fix).toContain('firewall');
});
