/** Starts a service with mock payments, and a payer. */
import type { RevisionName } from '../../../../../src/service/config/revision.ts';
import type { Store } from '../../../../../src/service/store/store.ts';
import {
  type Answer,
  startApp,
  type TestApp,
  type TestAppOptions,
} from '../../../../fixtures/service/start-app.ts';
import { newPayer, type Payer, type SignOptions, TERMS } from '../../../payment/payer.ts';

export const PRICES = {
  '0.3.0': { scan: 50_000n, export: 100_000n, changes: 30_000n },
  '0.1.0': { scan: 150_000n, report: 20_000n },
} as const;

/** The address to which payments in mock mode go. */
const PAY_TO = '0x4020000000000000000000000000000000000402';

export type SellingApp = AsyncDisposable & {
  readonly app: TestApp;
  readonly payer: Payer;
  header(
    value: bigint,
    options?: Partial<SignOptions>,
    from?: Payer,
  ): Promise<Record<string, string>>;
  scan(url: string, headers?: Record<string, string>): Promise<Answer>;
};

/** Starts the whole service with mock payments. Its payer signs by the clock of the store. */
export async function startSelling(
  revision: RevisionName = '0.3.0',
  options: TestAppOptions = {},
): Promise<SellingApp> {
  const app = await startApp({ revision, ...options });
  const payer = buyer();
  return {
    app,
    payer,
    async header(value, more = {}, from = payer) {
      const signed = await from.sign({ value, nowMs: app.now(), ...more });
      return { 'payment-signature': signed.header };
    },
    scan: (url, headers = {}) => app.post('/v1/scan', { url }, headers),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

export function buyer(): Payer {
  return newPayer(undefined, { ...TERMS, payTo: PAY_TO });
}

/** Counts the payments whose work runs. */
export async function countClaims(store: Store): Promise<number> {
  let count = 0;
  for await (const { last } of store.ledger.findUnfinished())
    if (last.state === 'claimed') count += 1;
  return count;
}
