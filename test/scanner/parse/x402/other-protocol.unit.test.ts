import { expect, test } from 'vitest';
import { findOtherChallenges } from '../../../../src/scanner/parse/x402/other-protocol.ts';
import { answer } from '../../../fixtures/observations/build-observations.ts';

const MPP_CHALLENGE =
  'Payment id="x7", realm="api.example", method="tempo", intent="charge", request="eyJ9"';

function readAnswer(...values: readonly string[]) {
  return findOtherChallenges(answer(402, {}, { 'www-authenticate': values }).data);
}

test.each([
  ['MPP', ['tempo'], [MPP_CHALLENGE]],
  ['MPP', [], ['payment']],
  ['MPP', ['tempo'], [`Bearer realm="a, b", ${MPP_CHALLENGE}`]],
  ['MPP', ['tempo'], ['Bearer', MPP_CHALLENGE]],
  ['L402', [], ['L402 macaroon="AGIAJ", invoice="lnbc1"']],
  ['L402', [], ['LSAT macaroon=AGIAJ==, invoice=lnbc1, method="tempo"']],
] as const)('reads the protocol %s with the methods %j from %j', (protocol, methods, values) => {
  expect(readAnswer(...values)).toEqual([{ protocol, methods }]);
});

test.each([
  [
    ['tempo', 'stripe'],
    [MPP_CHALLENGE, 'Payment id="2", METHOD = "stripe"'],
  ],
  [['tempo', 'stripe'], [`${MPP_CHALLENGE}, Payment method=stripe, id=2`]],
  [['tempo'], [MPP_CHALLENGE, MPP_CHALLENGE]],
  [['lightning'], ['Payment realm="method=\\"card\\", method=evm", method="lightning"']],
  [['a b'], ['Payment method="a\u202e\t b"']],
  [['a"b'], ['Payment method="a\\"b"']],
  [[], ['Payment method="", payment-method="tempo"']],
  [[], ['Bearer method="tempo", Payment id="1"']],
  [
    ['1', '2', '3', '4', '5'],
    ['6', '5', '4', '3', '2', '1'].map((n) => `Payment method="${n}"`).toReversed(),
  ],
  [[`${'m'.repeat(39)}…`], [`Payment method="${'m'.repeat(41)}"`]],
] as const)('reads the MPP methods %j from the header', (methods, values) => {
  expect(readAnswer(...values)).toEqual([{ protocol: 'MPP', methods }]);
});

test('lists each protocol once', () => {
  expect(readAnswer('L402 invoice="lnbc1"', MPP_CHALLENGE, 'LSAT invoice="lnbc2"')).toEqual([
    { protocol: 'L402', methods: [] },
    { protocol: 'MPP', methods: ['tempo'] },
  ]);
});

test.each([
  [[]],
  [['Bearer realm="x, Payment id=1"']],
  [['Basic realm="Payment", Payment="1"']],
  [['Payments id="1"']],
  [['"unclosed, Payment id=1']],
  [[`X${' '.repeat(50_000)}`, ','.repeat(50_000)]],
])('reads no challenge from the header values of row %#', (values) => {
  expect(readAnswer(...values)).toEqual([]);
});

test('reads no challenge from a 401', () => {
  expect(findOtherChallenges(answer(401, {}, { 'www-authenticate': MPP_CHALLENGE }).data)).toEqual(
    [],
  );
});
