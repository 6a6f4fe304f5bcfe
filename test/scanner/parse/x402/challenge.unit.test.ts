import { describe, expect, test } from 'vitest';
import {
  findResourceUrlFault,
  parseChallenge,
  readChallenge,
} from '../../../../src/scanner/parse/x402/challenge.ts';
import {
  findChallengedResources,
  findSignIns,
} from '../../../../src/scanner/parse/x402/challenged-resources.ts';
import {
  answer,
  bodyChallenge402,
  challenge402,
  challengeV1,
  challengeV2,
  encodeChallenge,
  failure,
  html,
  offer,
  offerV1,
  PAY_TO,
  resource,
  USDC_BASE,
} from '../../../fixtures/observations/build-observations.ts';

describe('readChallenge', () => {
  test('reads a v2 challenge from the header, whatever the body is', () => {
    const bodies = ['', '{}', '<!doctype html>', JSON.stringify(challengeV1())];
    for (const body of bodies) {
      const { challenge } = readChallenge(challenge402(challengeV2(), { body }).data);
      expect(challenge).toMatchObject({
        version: 2,
        where: 'header',
        resourceUrl: 'https://seller.example/weather',
        description: 'Weather of a city, now',
        offers: [{ amount: '10000', asset: USDC_BASE, payTo: PAY_TO, pointer: '/accepts/0' }],
      });
    }
  });

  test.each([
    ['absent', null],
    ['not base64', '{"x402Version":2}'],
    ['JSON without a challenge', encodeChallenge({})],
  ])('falls back on the body if the header is %s', (_, header) => {
    const observation = challenge402(challengeV2(), { header, body: challengeV2() });
    expect(readChallenge(observation.data).challenge).toMatchObject({ where: 'body', version: 2 });
  });

  test('reads v1 by its own names', () => {
    const { challenge } = readChallenge(bodyChallenge402().data);
    expect(challenge).toMatchObject({
      version: 1,
      where: 'body',
      resourceUrl: 'https://seller.example/weather',
      description: 'Weather of a city, now',
      offers: [{ amount: '10000', network: 'base', maxTimeoutSeconds: 300 }],
    });
  });

  test('finds no challenge in other answers', () => {
    const answers = [
      answer(402),
      html(402, '<html>'),
      answer(402, []),
      answer(402, { error: 'x' }),
    ];
    for (const { data } of answers) expect(readChallenge(data).challenge).toBeNull();
  });
});

describe('parseChallenge', () => {
  test('reads no v1 names in a v2 challenge, and no v2 names in v1', () => {
    const v2 = parseChallenge(challengeV2({ resource: undefined, accepts: [offerV1()] }), 'header');
    expect(v2).toMatchObject({ version: 2, resourceUrl: null, description: null });
    expect(v2?.offers[0]?.amount).toBeUndefined();
    const v1 = parseChallenge(challengeV1({ accepts: [offer()] }), 'body');
    expect(v1).toMatchObject({ version: 1, resourceUrl: null });
    expect(v1?.offers[0]?.amount).toBeUndefined();
  });

  test.each([[undefined], ['2'], [3], [null], [2.5], ['1']])(
    'reads version %j as v2 if there is an accepts list',
    (x402Version) => {
      const value = challengeV2({ x402Version });
      expect(parseChallenge(value, 'header')).toMatchObject({ version: 2, offers: [{}] });
      expect(parseChallenge({ ...value, accepts: undefined }, 'header')).toBeNull();
    },
  );

  test.each([1, 2])('takes version %i for a challenge only with a list accepts', (x402Version) => {
    expect(parseChallenge({ x402Version, accepts: [] }, 'body')).toMatchObject({ offers: [] });
    expect(parseChallenge({ x402Version }, 'body')).toBeNull();
    expect(parseChallenge({ x402Version, accepts: {} }, 'body')).toBeNull();
  });

  test('keeps malformed values and an empty description as sent', () => {
    const accepts = ['text', null, { amount: 5, payTo: {} }];
    const value = challengeV2({ accepts, resource: { url: 7, description: '' } });
    const challenge = parseChallenge(value, 'header');
    expect(challenge).toMatchObject({ resourceUrl: null, description: '' });
    expect(challenge?.offers.map(({ pointer, amount, entry }) => [pointer, amount, entry])).toEqual(
      [
        ['/accepts/0', undefined, 'text'],
        ['/accepts/1', undefined, null],
        ['/accepts/2', 5, { amount: 5, payTo: {} }],
      ],
    );
  });
});

describe('findChallengedResources', () => {
  const inHeader = challenge402();
  const inBody = bodyChallenge402();
  const notAllowed = answer(405, { error: 'no' });

  /** HEAD is not asked, unless the options say so. */
  function findChallenged(options: Parameters<typeof resource>[0]) {
    return findChallengedResources([resource({ head: [], ...options })], readChallenge);
  }

  test('prefers the 402 whose header holds the challenge to a 402 whose body holds it', () => {
    const [challenged] = findChallenged({ method: null, get: inBody, post: inHeader });
    expect(challenged).toMatchObject({ probe: { method: 'POST' }, second: null });
    expect(challenged?.reading.challenge.where).toBe('header');
    const [byGet] = findChallenged({ method: null, get: inHeader, post: inBody });
    expect(byGet?.probe.method).toBe('GET');
  });

  test('reads the challenge of the body if no header holds a challenge', () => {
    const [challenged] = findChallenged({ method: null, get: notAllowed, post: inBody });
    expect(challenged).toMatchObject({ probe: { method: 'POST' }, answer: { status: 402 } });
    expect(challenged?.reading.challenge.version).toBe(1);
  });

  const dearPost = challenge402(challengeV2({ accepts: [offer({ amount: '50000' })] }));
  const badPost = challenge402(challengeV2({ accepts: [offer({ extra: {} })] }));

  test('judges a POST by its own challenge, whatever GET of the path answers', () => {
    for (const post of [dearPost, badPost]) {
      const [challenged] = findChallenged({ method: 'POST', path: '/w', get: inHeader, post });
      expect(challenged).toMatchObject({ probe: { method: 'POST' } });
      expect(challenged?.reading.challenge.offers).toMatchObject([{ pointer: '/accepts/0' }]);
      expect(challenged?.answer).toMatchObject({ headers: post.data.headers });
    }
  });

  test('uses no other method if the declared method answered 402, even without a challenge', () => {
    const withoutTerms = answer(402, 'pay me');
    expect(findChallenged({ method: 'POST', get: inHeader, post: withoutTerms })).toEqual([]);
    expect(findChallenged({ method: 'GET', get: withoutTerms, post: inHeader })).toEqual([]);
  });

  test('uses the other method if the declared method did not answer 402', () => {
    const [challenged] = findChallenged({ method: 'GET', get: notAllowed, post: inHeader });
    expect(challenged).toMatchObject({ probe: { method: 'POST' } });
  });

  test('does not use another method that is a declared resource', () => {
    const declaredResources = [
      resource({ method: 'GET', path: '/w' }),
      resource({ method: 'POST', path: '/w', get: inHeader, head: [], post: answer(422) }),
    ];
    const challenged = findChallengedResources(declaredResources, readChallenge);
    expect(challenged.map(({ probe }) => probe.method)).toEqual(['GET']);
  });

  test('counts each method with its own terms if no method is declared, and counts equal terms once', () => {
    const methods = (post: typeof inHeader) =>
      findChallenged({ method: null, get: inHeader, post }).map(({ probe }) => probe.method);
    expect(methods(dearPost)).toEqual(['GET', 'POST']);
    expect(methods(badPost)).toEqual(['GET', 'POST']);
    expect(methods(inHeader)).toEqual(['GET']);
    expect(methods(inBody)).toEqual(['GET']);
  });

  test('leaves out an answer that asks for a sign-in and sells nothing', () => {
    const extensions = { 'sign-in-with-x': { info: {}, schema: {} } };
    const signIn = challenge402(challengeV2({ accepts: [], extensions }));
    const signInResource = resource({ get: signIn, head: [] });
    expect(findChallengedResources([signInResource], readChallenge)).toEqual([]);
    expect(findSignIns([signInResource, resource()], readChallenge)).toEqual([signInResource]);
    const soldWithSignIn = challenge402(challengeV2({ extensions }));
    expect(findChallenged({ get: soldWithSignIn })).toHaveLength(1);
    expect(findChallenged({ get: challenge402(challengeV2({ accepts: [] })) })).toHaveLength(1);
  });

  test('leaves out resources without a challenge', () => {
    expect(findChallenged({ get: answer(200, challengeV2()), head: inHeader })).toEqual([]);
    expect(findChallenged({ get: challenge402(challengeV2(), { status: 200 }) })).toEqual([]);
    expect(findChallenged({ get: failure('timeout') })).toEqual([]);
    expect(findChallenged({ get: answer(402, 'pay me') })).toEqual([]);
    expect(findChallenged({ get: [] })).toEqual([]);
  });

  test('compares the challenge with the second probe of the same method', () => {
    const dearer = challenge402(challengeV2({ accepts: [offer({ amount: '20000' })] }));
    const [challenged] = findChallenged({ get: [inHeader, dearer] });
    expect(challenged?.second?.offers[0]?.amount).toBe('20000');
    expect(findChallenged({ get: [inHeader, failure('reset')] })[0]?.second).toBeNull();
    expect(findChallenged({ get: [inHeader, answer(200)] })[0]?.second).toBeNull();
    expect(
      findChallenged({ method: null, get: inBody, post: [inHeader, inBody] })[0]?.second,
    ).toMatchObject({ version: 1 });
  });

  test('does not confuse a second probe with the first', () => {
    expect(findChallenged({ get: [answer(500), inHeader] })).toEqual([]);
  });
});

test('a URL of an origin with an IPv6 address names this origin', () => {
  const origin = { url: 'https://[2606:4700::1111]', hostname: '2606:4700::1111' };
  const findFault = (url: string) =>
    findResourceUrlFault(url, { ...origin, scheme: 'https' }, false);
  expect(findFault('https://[2606:4700::1111]/x')).toBeNull();
  expect(findFault('https://[2606:4700::2222]/x')).toBe('other-host');
});
