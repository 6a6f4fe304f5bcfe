import { describe, expect, test } from 'vitest';
import { advise } from '../../../src/scanner/clients/advise.ts';
import { ADVICE_FIXES, ADVICE_IDS } from '../../../src/scanner/model/report.ts';
import type { JsonObject, JsonValue } from '../../../src/scanner/parse/json/json.ts';
import {
  bodyChallenge402,
  challenge402,
  challengeV1,
  challengeV2,
  offer,
  offerV1,
  PAY_TO,
  perfectSeller,
  resource,
  resources,
  USDC_BASE_SEPOLIA,
} from '../../fixtures/observations/build-observations.ts';

const { origin } = perfectSeller();
const SEPOLIA = { network: 'eip155:84532', asset: USDC_BASE_SEPOLIA };
const PERMIT2 = { extra: { assetTransferMethod: 'permit2' } };

function adviceOn(challenge: JsonObject, otherMethods = 0) {
  const get = challenge402(challengeV2(challenge));
  return advise({ origin, resources: resources([resource({ get })], { otherMethods }) });
}

const withPaymentFlow = (paymentFlow: JsonValue) => ({
  extra: { name: 'USD Coin', version: '2', paymentFlow },
});
const adviseOnOffers = (...changes: readonly JsonObject[]) =>
  adviceOn({ accepts: changes.map((change) => offer(change)) }).map(({ id }) => id);
const adviseOnExtensions = (extensions: JsonObject) => adviceOn({ extensions }).map(({ id }) => id);

describe('advice', () => {
  test('is empty for a seller without faults', () => {
    expect(advise(perfectSeller())).toEqual([]);
  });

  test.each<readonly [JsonObject, readonly string[]]>([
    [{ amount: '1000000' }, []],
    [{ amount: '1000001' }, ['over-default-limit']],
    [{ amount: '1000' }, []],
    [{ amount: '999' }, ['under-facilitator-minimum']],
    [SEPOLIA, ['testnet-only']],
    [PERMIT2, ['needs-allowance']],
    [{ scheme: 'upto', extra: { facilitatorAddress: PAY_TO } }, ['needs-allowance']],
    [withPaymentFlow('upfront'), ['pays-before-delivery']],
    [withPaymentFlow('authorization'), []],
    [withPaymentFlow(['upfront']), []],
    [{ amount: '$5' }, []],
    [{ network: { toString: 1 } }, []],
  ])('on an offer with %j: %j', (change, ids) => {
    expect(adviseOnOffers(change)).toEqual(ids);
  });

  test('is absent for a testnet or an allowance if the seller also offers an alternative', () => {
    expect(adviseOnOffers({}, SEPOLIA)).toEqual([]);
    expect(adviseOnOffers({}, PERMIT2)).toEqual([]);
    const accepts = [offer(PERMIT2)];
    const extensions = { eip2612GasSponsoring: { info: {} } };
    expect(adviceOn({ accepts, extensions })).toEqual([]);
  });

  test('compares signed offers with those in accepts', () => {
    const signed = (payload: JsonObject) => ({
      'offer-receipt': { info: { offers: [{ format: 'eip712', acceptIndex: 0, payload }] } },
    });
    const terms = { scheme: 'exact', amount: '10000', payTo: PAY_TO.toLowerCase() };
    expect(adviseOnExtensions(signed(terms))).toEqual([]);
    expect(adviseOnExtensions(signed({ ...terms, amount: '1' }))).toEqual(['signed-offer-differs']);
    expect(adviseOnExtensions(signed({ ...terms, network: 'base' }))).toEqual([]);
    const body = Buffer.from(JSON.stringify({ amount: '1' })).toString('base64url');
    const jws = { format: 'jws', signature: `e30.${body}.sig` };
    expect(adviseOnExtensions({ 'offer-receipt': { info: { offers: [jws] } } })).toEqual([
      'signed-offer-differs',
    ]);
  });

  test('compares sign-ins with the scanned host', () => {
    const signIn = (info: JsonObject) => adviseOnExtensions({ 'sign-in-with-x': { info } });
    expect(signIn({ domain: 'seller.example', uri: 'https://seller.example/weather' })).toEqual([]);
    expect(signIn({ domain: 'shop.example' })).toEqual(['sign-in-elsewhere']);
    expect(signIn({ domain: 'seller.example', uri: 'https://shop.example' })).toEqual([
      'sign-in-elsewhere',
    ]);
  });

  test('names required payment identifiers, and counts paid operations that the scan did not request', () => {
    expect(adviseOnExtensions({ 'payment-identifier': { info: { required: true } } })).toEqual([
      'identifier-required',
    ]);
    expect(adviceOn({}, 3)).toMatchObject([
      { id: 'methods-unseen', evidence: expect.stringContaining('3 paid operations') },
    ]);
  });

  test('names each id once in a fixed order, with every place of the fault', () => {
    const all = adviceOn(
      { accepts: [offer({ ...SEPOLIA, amount: '7' }), offer({ ...SEPOLIA, amount: '5' })] },
      1,
    );
    expect(all.map(({ id }) => id)).toEqual(
      ADVICE_IDS.filter((id) => all.some((advice) => advice.id === id)),
    );
    expect(all[1]).toMatchObject({
      id: 'under-facilitator-minimum',
      evidence:
        'GET /weather /accepts/0/amount: "7" asks $0.000007; GET /weather /accepts/1/amount: "5" asks $0.000005',
    });
  });

  test('names the members of version 1 for version 1, and the price in dollars', () => {
    const challenge = challengeV1({ accepts: [offerV1({ maxAmountRequired: '10000000000' })] });
    const priced = resources([resource({ get: bodyChallenge402(challenge) })]);
    expect(advise({ ...perfectSeller(), resources: priced })).toContainEqual({
      id: 'over-default-limit',
      evidence: 'GET /weather /accepts/0/maxAmountRequired: "10000000000" asks $10,000.00',
      fix: ADVICE_FIXES['over-default-limit'],
    });
  });
});
