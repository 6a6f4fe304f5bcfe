import type { CheckCase } from '../../src/engine/define-check.ts';
import {
  answer,
  bodyChallenge402,
  challenge402,
  challengeV1,
  challengeV2,
  ORIGIN,
  offerV1,
  resource,
  resources,
} from '../../test/fixtures/observations/build-observations.ts';

function described(...descriptions: readonly (string | undefined)[]): CheckCase['seen'] {
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

function describedV1(...descriptions: readonly string[]): CheckCase['seen'] {
  const accepts = descriptions.map((description) => offerV1({ description }));
  const challenge = challengeV1({ accepts });
  return { resources: resources([resource({ get: bodyChallenge402(challenge) })]) };
}

const cases: readonly CheckCase[] = [
  {
    name: '501 characters',
    seen: described('x'.repeat(501)),
    expect: {
      status: 'fail',
      outcome: 'too-long',
      evidence: ['GET /0 /resource/description has 501'],
    },
  },
  {
    name: 'version 1: the second offer has 501 characters',
    seen: describedV1('Weather', 'x'.repeat(501)),
    expect: {
      status: 'fail',
      outcome: 'too-long',
      evidence: ['GET /weather /accepts/1/description has 501'],
    },
  },
  {
    name: '500 characters',
    seen: described('x'.repeat(500)),
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['1 of 1', '500'] },
  },
  {
    name: '500 characters outside the basic plane are 500, not 1000',
    seen: described('🌦'.repeat(500)),
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['500'] },
  },
  {
    name: '501 characters outside the basic plane',
    seen: described('🌦'.repeat(501)),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['501'] },
  },
  {
    name: 'spaces count: measured raw',
    seen: described(`x${' '.repeat(500)}`),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['501'] },
  },
  {
    name: 'one of two is too long',
    seen: described('short', 'x'.repeat(600)),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['GET /1', '600'] },
  },
  {
    name: 'too long by version 1',
    seen: describedV1('x'.repeat(501)),
    expect: { status: 'fail', outcome: 'too-long', evidence: ['/accepts/0/description has 501'] },
  },
  {
    name: 'fine by version 1',
    seen: describedV1('Weather'),
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['7'] },
  },
  {
    name: 'no description',
    seen: described(undefined),
    expect: { status: 'warn', outcome: 'missing', evidence: ['GET /0 /resource/description'] },
  },
  {
    name: 'Express sends an unset description as empty text',
    seen: described('Weather', ''),
    expect: { status: 'warn', outcome: 'missing', evidence: ['GET /1'] },
  },
  {
    name: 'one of two resources challenges',
    seen: { resources: resources([resource(), resource({ path: '/b', get: answer(200) })]) },
    expect: { status: 'pass', outcome: 'short-enough', evidence: ['1 of 2'] },
  },
  {
    name: 'no challenge was seen, and P2 did not fail',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
];

export default cases;
