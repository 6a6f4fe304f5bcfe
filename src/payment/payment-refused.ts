/**
 * Why no payment was taken. The codes are stable: clients key on them. They stand before the colon
 * of `error` in a 402.
 */
export type RefusalCode =
  | 'payment_required'
  | 'invalid_payment'
  | 'invalid_signature'
  | 'wrong_scheme'
  | 'wrong_network'
  | 'wrong_asset'
  | 'wrong_recipient'
  | 'wrong_amount'
  | 'not_yet_valid'
  | 'authorization_expired'
  | 'verification_failed'
  | 'settlement_failed';

/** Answered as a 402 with a fresh challenge; nothing was charged. The message says what to do. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
