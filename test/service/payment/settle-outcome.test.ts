import { describe, expect, test } from 'vitest';
import type { StoredPayment } from '../../../src/service/payment/ledger/ledger.ts';
import {
  type FacilitatorAnswer,
  toOutcomeOfError,
  toSettleOutcome,
  UNCLEAR_REASONS,
  UNSENT_REASONS,
} from '../../../src/service/payment/settle/facilitator-answers.ts';
import { REQUIREMENTS, TERMS } from './payer.ts';

const FROM = '0x2222222222222222222222222222222222222222';
const TRANSACTION = `0x${'ab'.repeat(32)}`;

const payment: StoredPayment = {
  authorization: {
    from: FROM,
    to: TERMS.payTo,
    value: 50_000n,
    validAfter: 0n,
    validBefore: 2_000_000_000n,
    nonce: `0x${'01'.repeat(32)}`,
  },
  signature: `0x${'02'.repeat(65)}`,
  requirements: REQUIREMENTS,
};

const success: FacilitatorAnswer = {
  isSuccess: true,
  transaction: TRANSACTION,
  network: 'eip155:8453',
  payer: FROM,
  excerpt: '',
};
const failure = (reason: string, transaction = ''): FacilitatorAnswer => ({
  isSuccess: false,
  reason,
  transaction,
  network: 'eip155:8453',
  excerpt: '',
});

describe('in the answer of a facilitator to a settlement,', () => {
  const cases: readonly (readonly [string, FacilitatorAnswer, string])[] = [
    ['a well-formed success', success, 'settled'],
    ['a success without a payer', { ...success, payer: undefined as never }, 'settled'],
    ['a success with an empty transaction', { ...success, transaction: '' }, 'unclear'],
    ['a success with half a hash', { ...success, transaction: '0xabcd' }, 'unclear'],
    ['a success with the zero hash', { ...success, transaction: `0x${'0'.repeat(64)}` }, 'unclear'],
    ['a success on another network', { ...success, network: 'eip155:1' }, 'unclear'],
    ['a success for another payer', { ...success, payer: TERMS.payTo }, 'unclear'],
    ['a success for a payer that is not an address', { ...success, payer: 'me' }, 'unclear'],
    ['insufficient funds', failure('insufficient_funds'), 'refused'],
    ['a bad signature', failure('invalid_exact_evm_payload_signature'), 'refused'],
    [
      'an expired authorization',
      failure('invalid_exact_evm_payload_authorization_valid_before'),
      'refused',
    ],
    ['a refusal that names a transaction', failure('insufficient_funds', TRANSACTION), 'unclear'],
    ['a refusal with half a hash', failure('insufficient_funds', '0xab'), 'unclear'],
    ['a used nonce', failure('invalid_exact_evm_nonce_already_used'), 'nonce_used'],
    ['a pending settlement', failure('settlement_pending', TRANSACTION), 'unclear'],
    ['a failed transaction', failure('invalid_exact_evm_transaction_failed'), 'unclear'],
    ['a reason about the state of a transaction', failure('invalid_transaction_state'), 'unclear'],
    ['an error that only this facilitator uses', failure('unexpected_settle_error'), 'unclear'],
    ['an unknown reason', failure('bad_weather'), 'unclear'],
    ['a reason that only this facilitator uses', failure('expired'), 'unclear'],
    ['a reason that is a member of every object', failure('constructor'), 'unclear'],
    ['an empty reason', failure(''), 'unclear'],
  ];

  test.each(Object.entries(UNSENT_REASONS))(
    'reason %s is a refusal (source: %s)',
    (reason, source) => {
      expect(toSettleOutcome(failure(reason), payment)).toEqual({ kind: 'refused', reason });
      expect(source).not.toBe('');
    },
  );

  test.each(Object.keys(UNCLEAR_REASONS))('reason %s proves nothing', (reason) => {
    expect(toSettleOutcome(failure(reason), payment).kind).toBe('unclear');
  });

  test.each(cases.map(([name, response, kind]) => ({ name, response, kind })))(
    '$name is $kind',
    ({ response, kind }) => {
      expect(toSettleOutcome(response, payment).kind).toBe(kind);
    },
  );

  test('a transaction is read only if it is a full hash', () => {
    expect(toSettleOutcome(success, payment)).toEqual({
      kind: 'settled',
      transaction: TRANSACTION,
    });
    expect(toSettleOutcome(failure('settlement_pending', TRANSACTION), payment)).toMatchObject({
      transaction: TRANSACTION,
    });
    expect(toSettleOutcome(failure('bad_weather', 'soon'), payment)).toMatchObject({
      transaction: null,
    });
  });
});

describe('an error on the way to a facilitator', () => {
  const errorWithCode = (code: string) => Object.assign(new Error('x'), { code });
  const cases: readonly (readonly [string, unknown, string])[] = [
    [
      'a refused connection',
      new TypeError('fetch failed', { cause: errorWithCode('ECONNREFUSED') }),
      'not_sent',
    ],
    [
      'a connection that every address refused',
      new TypeError('fetch failed', {
        cause: new AggregateError([errorWithCode('ECONNREFUSED'), errorWithCode('ECONNREFUSED')]),
      }),
      'not_sent',
    ],
    [
      'a connection that one of two addresses did not refuse',
      new TypeError('fetch failed', {
        cause: new AggregateError([errorWithCode('ECONNREFUSED'), errorWithCode('ETIMEDOUT')]),
      }),
      'unclear',
    ],
    ['a reset', new TypeError('fetch failed', { cause: errorWithCode('ECONNRESET') }), 'unclear'],
    ['a timeout', new DOMException('late', 'TimeoutError'), 'unclear'],
    ['a value that is not an error', 'no', 'unclear'],
  ];

  test.each(cases.map(([name, error, kind]) => ({ name, error, kind })))(
    '$name is $kind',
    ({ error, kind }) => {
      expect(toOutcomeOfError(error).kind).toBe(kind);
    },
  );
});
