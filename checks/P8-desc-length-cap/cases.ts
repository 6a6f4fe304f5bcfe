import type { CheckCase } from '#check';
import {
  answer,
  bodyChallenge402,
  challenge402,
  challengeV1,
  challengeV2,
  ORIGIN,
  offer,
  offerV1,
  resource,
  resources,
} from '../../test/fixtures/observations/build-observations.ts';

function withDescriptions(...descriptions: readonly (string | undefined)[]): CheckCase['seen'] {
  return {
    resources: resources(
      descriptions.map((description, index) =>
        resource({
          path: `/${index}`,
          get: challenge402(challengeV2({ resource: { url: `${ORIGIN}/${index}`, description } })),
        }),
      ),
    ),
  };
}

function withV1Descriptions(...descriptions: readonly string[]): CheckCase['seen'] {
  const accepts = descriptions.map((description) => offerV1({ description }));
  const challenge = challengeV1({ accepts });
  return { resources: resources([resource({ get: bodyChallenge402(challenge) })]) };
}

/** Descriptions outside `resource`, where version 2 is not read. */
const ELSEWHERE_CASES = [
  { of: { resource: undefined, description: 'Weather' }, evidence: '/description has a text' },
  {
    of: { resource: {}, accepts: [offer({ description: 'Weather' })] },
    evidence: '/accepts/0/description has a text',
  },
  { of: { resource: {}, description: '' }, evidence: '/resource/description is missing or empty' },
].map(
  ({ of, evidence }): CheckCase => ({
    name: `a description is looked for outside resource: ${evidence}`,
    seen: { resources: resources([resource({ get: challenge402(challengeV2(of)) })]) },
    expect: { status: 'warn', outcome: 'missing', evidence: [evidence] },
  }),
);

const cases: readonly CheckCase[] = [
  {
    name: 'the description has 501 characters',
    seen: withDescriptions('x'.repeat(501)),
    expect: {
      status: 'fail',
      outcome: 'too-long',
      evidence: ['GET /0 /resource/description has 501'],
    },
  },
  {
    name: 'the second offer of version 1 has a description of 501 characters',
    seen: withV1Descriptions('Weather', 'x'.repeat(501)),
    expect: {
      status: 'fail',
      outcome: 'too-long',
      evidence: ['GET /weather /accepts/1/description has 501'],
    },
  },
  {
    name: 'the description has 500 characters',
    seen: withDescriptions('x'.repeat(500)),
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['1 of 1', '500'] },
  },
  {
    name: 'the description has 500 emoji',
    seen: withDescriptions('🌦'.repeat(500)),
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['500'] },
  },
  {
    name: 'the description has 501 emoji',
    seen: withDescriptions('🌦'.repeat(501)),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['501'] },
  },
  {
    name: 'the description has one letter and 500 spaces',
    seen: withDescriptions(`x${' '.repeat(500)}`),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['501'] },
  },
  {
    name: 'one of two descriptions has 600 characters',
    seen: withDescriptions('short', 'x'.repeat(600)),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['GET /1', '600'] },
  },
  {
    name: 'the only offer of version 1 has a description of 501 characters',
    seen: withV1Descriptions('x'.repeat(501)),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['/accepts/0/description has 501'] },
  },
  {
    name: 'the only offer of version 1 has a short description',
    seen: withV1Descriptions('Weather'),
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['7'] },
  },
  {
    name: 'the description is missing',
    seen: withDescriptions(undefined),
    expect: { status: 'warn', outcome: 'missing', evidence: ['GET /0 /resource/description'] },
  },
  ...ELSEWHERE_CASES,
  {
    name: 'one of two descriptions is empty, as Express sends an unset one',
    seen: withDescriptions('Weather', ''),
    expect: { status: 'warn', outcome: 'missing', evidence: ['GET /1'] },
  },
  {
    name: 'one resource challenges with a description, another answers 200',
    seen: { resources: resources([resource(), resource({ path: '/b', get: answer(200) })]) },
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['1 of 2'] },
  },
  {
    name: 'the entries of accepts in version 1 are texts',
    seen: {
      resources: resources([
        resource({ get: bodyChallenge402(challengeV1({ accepts: ['exact'] })) }),
      ]),
    },
    expect: {
      status: 'warn',
      outcome: 'no-offer',
      basis: 'not_determined',
      evidence: ['/accepts: ["exact"] (see P3)'],
    },
  },
  {
    name: 'the entries of accepts in version 2 are texts, and the description is missing',
    seen: {
      resources: resources([
        resource({ get: challenge402(challengeV2({ accepts: ['exact'], resource: {} })) }),
      ]),
    },
    expect: { status: 'warn', outcome: 'missing', evidence: ['/resource/description'] },
  },
  {
    name: 'only the body has a description, and clients read the header',
    seen: {
      resources: resources([
        resource({
          get: challenge402(challengeV2({ resource: undefined }), { body: challengeV2() }),
        }),
      ]),
    },
    expect: {
      status: 'warn',
      outcome: 'missing',
      evidence: ['in its header, which differs from its body: /resource/description is missing'],
    },
  },
  {
    name: 'the only POST answers 422, without a challenge',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
