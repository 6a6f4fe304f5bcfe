/** One paid request, as a rig sends it and remembers it. */
import type { Payer, SignedHeader } from '../service/payment/payer.ts';

/** One request and what came of it. */
export type Call = {
  readonly payment: Payment;
  /** 0: the connection broke before the answer was whole. */
  readonly status: number;
  readonly body: string;
  readonly error: string | null;
  readonly isRedelivered: boolean;
  readonly transaction: string | null;
};

export type Payment = {
  readonly payer: Payer;
  readonly host: string;
  readonly signed: SignedHeader;
};
