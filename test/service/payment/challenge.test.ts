import { decodePaymentRequiredHeader } from '@x402/core/http';
import { parsePaymentRequired } from '@x402/core/schemas';
import { type DiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/service/config/config.ts';
import type { RevisionName } from '../../../src/service/config/revision.ts';
import { listSoldOperations } from '../../../src/service/http/routes/paid/paid-catalog.ts';
import { createChallenge } from '../../../src/service/payment/gate/challenge.ts';
import {
  encodeSettlement,
  MAX_REFUSAL_LENGTH,
  PaymentRefused,
} from '../../../src/service/payment/gate/refusals.ts';
import { toRouteOffer } from '../../../src/service/payment/terms.ts';
import { ScanCoordinator } from '../../../src/service/scans/scan-coordinator.ts';
import { toPaymentTerms } from '../../../src/service/start/open-payments.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';

const OFFER_MEMBERS = [
  'amount',
  'asset',
  'extra',
  'maxTimeoutSeconds',
  'network',
  'payTo',
  'scheme',
];

function createChallenges(revision: RevisionName) {
  const config = loadConfig({ API_REVISION: revision, BASE_URL: 'https://api.scanner.example' });
  const store = openSqlite(MEMORY);
  const scanner = createFakeScanner();
  const scanCoordinator = new ScanCoordinator({
    scanner,
    store,
    catalogFacts: {},
  });
  return listSoldOperations({ config, store, scanCoordinator }).map(
    ({ operation, route, offer }) => {
      const longestRefusal = new PaymentRefused(
        'authorization_expired',
        'x'.repeat(MAX_REFUSAL_LENGTH),
      );
      const challenge = createChallenge(
        toRouteOffer(route, toPaymentTerms(config), config.baseUrl),
        longestRefusal,
      );
      const required = decodePaymentRequiredHeader(challenge.headers['payment-required'] ?? '');
      return [operation, { route, offer, challenge, required }] as const;
    },
  );
}

describe.each(['0.1.0', '0.3.0'] as const)('the challenges of revision %s', (revision) => {
  const challenges = createChallenges(revision);

  test('belong to the routes that the revision sells', () => {
    const soldOperations = { '0.1.0': ['scan', 'report'], '0.3.0': ['scan', 'export', 'changes'] };
    expect(challenges.map(([operation]) => operation)).toEqual(soldOperations[revision]);
  });

  test.each(challenges)('%s: header and body have the same content', (_name, { challenge }) => {
    const header = challenge.headers['payment-required'] ?? '';
    expect(Buffer.from(header, 'base64').toString()).toBe(challenge.body);
    expect(header.length).toBeLessThan(4_096);
    expect(challenge.headers['cache-control']).toBe('no-store');
  });

  test.each(challenges)(
    '%s: the official parser accepts the challenge',
    (_name, { required, route, offer }) => {
      expect(parsePaymentRequired(required).success).toBe(true);
      expect(required.resource.url).toBe(`https://api.scanner.example${route.path}`);
      expect(required.error).toMatch(/^authorization_expired: x+$/);
      expect(required.accepts).toHaveLength(1);
      const [accepted] = required.accepts;
      expect(Object.keys(accepted ?? {}).sort()).toEqual(OFFER_MEMBERS);
      expect(accepted).toMatchObject({
        scheme: 'exact',
        network: 'eip155:8453',
        amount: offer.priceBaseUnits.toString(),
        maxTimeoutSeconds: offer.maxTimeoutSeconds,
        extra: { name: 'USD Coin', version: '2' },
      });
    },
  );

  test.each(challenges)(
    '%s: the discovery extension is valid by its own schema',
    (_name, { required, route }) => {
      const { bazaar, 'payment-identifier': identifier } = required.extensions ?? {};
      expect(validateDiscoveryExtension(bazaar as DiscoveryExtension)).toMatchObject({
        valid: true,
      });
      expect(bazaar).toMatchObject({ info: { input: { method: route.method } } });
      expect(identifier).toMatchObject({ info: { required: false } });
    },
  );
});

test('creating a challenge fails if it is too long for clients to echo', () => {
  const [firstChallenge] = createChallenges('0.3.0');
  if (firstChallenge === undefined) throw new Error('the revision sells no route');
  const { route } = firstChallenge[1];
  const config = loadConfig({});
  const offer = toRouteOffer(
    { ...route, description: 'x'.repeat(3_000) },
    toPaymentTerms(config),
    'https://a.example',
  );
  expect(() => createChallenge(offer, new PaymentRefused('payment_required', 'pay'))).toThrow(
    /shorten/,
  );
});

test('the settlement header has the members that official clients read', () => {
  const payer = '0x1111111111111111111111111111111111111111';
  const decodeSettlement = (notice: Parameters<typeof encodeSettlement>[0]) =>
    JSON.parse(Buffer.from(encodeSettlement(notice), 'base64').toString());
  const network = 'eip155:8453';
  expect(decodeSettlement({ network, payer, transaction: '0xab' })).toEqual({
    success: true,
    transaction: '0xab',
    network,
    payer,
  });
  expect(
    decodeSettlement({ network, payer, transaction: null, errorReason: 'insufficient_funds' }),
  ).toEqual({
    success: false,
    errorReason: 'insufficient_funds',
    transaction: '',
    network,
    payer,
  });
});
