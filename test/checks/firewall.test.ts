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

test.each([P2v1, P2v2])('paid paths that all answer 403: version $version', (check) => {
  const fixOf = (seen: ResourceSet) => check.evaluate({ resources: seen }, createKit()).fix;
  expect(fixOf(resources([BLOCKED_RESOURCE]))).toContain('firewall');
  expect(fixOf(resources([BLOCKED_RESOURCE, resource({ path: '/b' })]))).toContain('firewall');
  const looked = ['/openapi.json: 403', '/llms.txt: 403'];
  expect(fixOf(resources([], { looked }))).toContain('firewall');
  const broken = resource({ path: '/c', get: html(500, 'x') });
  expect(fixOf(resources([BLOCKED_RESOURCE, broken]))).not.toContain('firewall');
});

test('documents that answer 403', () => {
  const seen = {
    ...perfectSeller(),
    ...{ openapi: FORBIDDEN, manifest: FORBIDDEN, manifestJson: FORBIDDEN },
  };
  expect(S1.evaluate(seen, createKit()).fix).toContain('firewall');
  expect(S6.evaluate(seen, createKit()).fix).toContain('firewall');
});
