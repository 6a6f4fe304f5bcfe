import { expect, it } from 'vitest';
import { otherProtocol } from '../../../src/parse/x402/other-protocol.ts';
import { answer } from '../../fixtures/observations/build-observations.ts';

const MPP = 'Payment id="x7", realm="api.example", method="tempo", intent="charge", request="eyJ9"';

function asking(...values: readonly string[]) {
  return otherProtocol(answer(402, {}, { 'www-authenticate': values }).data);
}

it.each([
  ['MPP', [MPP]],
  ['MPP', ['payment']],
  ['MPP', [`Bearer realm="a, b", ${MPP}`]],
  ['MPP', ['Bearer', MPP]],
  ['L402', ['L402 macaroon="AGIAJ", invoice="lnbc1"']],
  ['L402', ['LSAT macaroon=AGIAJ==, invoice=lnbc1']],
] as const)('reads %s from %j', (protocol, values) => {
  expect(asking(...values)).toBe(protocol);
});

it.each([
  [[]],
  [['Bearer realm="x, Payment id=1"']],
  [['Basic realm="Payment", Payment="1"']],
  [['Payments id="1"']],
  [['"unclosed, Payment id=1']],
  [[`X${' '.repeat(50_000)}`, ','.repeat(50_000)]],
])('reads none from %#', (values) => {
  expect(asking(...values)).toBeNull();
});

it('looks at a 402 alone', () => {
  expect(otherProtocol(answer(401, {}, { 'www-authenticate': MPP }).data)).toBeNull();
});
