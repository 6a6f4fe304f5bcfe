import type { SettlementNotice } from './challenge.ts';

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

/** Room that a challenge leaves for the message; facilitators' own words are cut to fit. */
export const MAX_REFUSAL_LENGTH = 240;

/** Answered as a 402 with a fresh challenge; nothing was charged. The message says what to do. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused';
  readonly code: RefusalCode;
  /** Told in `PAYMENT-RESPONSE` where a settlement was tried. */
  readonly settlement: SettlementNotice | null;

  constructor(code: RefusalCode, message: string, settlement: SettlementNotice | null = null) {
    super(message.slice(0, MAX_REFUSAL_LENGTH));
    this.code = code;
    this.settlement = settlement;
  }
}

/** A facilitator's reason as a word of ours: its text is not ours to send on as it is. */
export function reasonWord(reason: string): string {
  return reason.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 60) || 'unknown';
}
