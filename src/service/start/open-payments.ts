import type { AnswerReader } from '../../scanner/third-parties/answer-reader.ts';
import type { Config } from '../config/config.ts';
import { listSoldOperations } from '../http/routes/paid/paid-catalog.ts';
import type { SellingOptions } from '../http/routes/paid/scan-route.ts';
import { createPayments, type PaymentsOptions } from '../payment/payments.ts';
import type { Facilitator, PaymentEvent } from '../payment/settle/facilitator.ts';
import type { PaymentTerms } from '../payment/terms.ts';
import { toPaymentTiming } from '../payment/timing.ts';
import { type Alarm, MoneyMetrics, raiseAlarm } from './money-metrics.ts';

export type OpenPayments = Awaited<ReturnType<typeof openPayments>>;

type OpenPaymentsOptions = SellingOptions & {
  readonly onError: (message: string, error: unknown) => void;
  /** Called for events that need an operator. */
  readonly onAlarm?: Alarm | undefined;
  /** Parses the answers of nodes and facilitators. By default, each of them gets its own reader. */
  readonly answers?: AnswerReader | undefined;
};

/** Before `start`, the payments send no request and do not look for unfinished payments. */
export async function openPayments(options: OpenPaymentsOptions) {
  const { config, store, scanCoordinator, onError, answers } = options;
  const { payment, baseUrl, isRateLimited, timeScale } = config;
  const terms = toPaymentTerms(config);
  const timing = toPaymentTiming(timeScale);
  const sold = listSoldOperations(options);
  const metrics = new MoneyMetrics();
  const onEvent = (event: PaymentEvent) => {
    metrics.observe(event);
    if (options.onAlarm !== undefined) raiseAlarm(event, options.onAlarm);
  };
  const payments = createPayments({
    store,
    terms,
    baseUrl,
    facilitator: await loadFacilitator(config, { terms, store, onEvent, answers, timing }),
    rpcUrl: payment.rpcUrl,
    routes: sold.map(({ route }) => route),
    isRateLimited,
    findFault: () => scanCoordinator.findFault(),
    onError,
    onEvent,
    answers,
    timing,
  });
  metrics.watch(payments, () => store.now());
  return { ...payments, sold, metrics };
}

export function toPaymentTerms({ payment }: Config): PaymentTerms {
  return {
    network: payment.network as PaymentTerms['network'], // the setting allows no other form
    asset: payment.asset.address,
    assetName: payment.asset.name,
    assetVersion: payment.asset.version,
    payTo: payment.payTo,
  };
}

type FacilitatorOptions = Pick<
  PaymentsOptions,
  'terms' | 'store' | 'onEvent' | 'answers' | 'timing'
>;

/** Loads only the facilitator of the configured mode, because each facilitator imports other packages. */
async function loadFacilitator(
  { payment }: Config,
  { terms, store, onEvent, answers, timing }: FacilitatorOptions,
): Promise<Facilitator> {
  const { mode, rpcUrl, settlementKey, facilitatorUrl, cdpKey } = payment;
  if (mode === 'facilitator' && facilitatorUrl !== null) {
    const { createRemoteFacilitator } = await import('../payment/settle/remote-facilitator.ts');
    return createRemoteFacilitator({ url: facilitatorUrl, cdpKey, answers, timing });
  }
  if (mode === 'local' && rpcUrl !== null && settlementKey !== null) {
    const { createLocalFacilitator } = await import('../payment/settle/local-facilitator.ts');
    const { network } = terms;
    return createLocalFacilitator({ rpcUrl, settlementKey, network, onEvent, answers, timing });
  }
  if (mode !== 'mock') throw new Error(`PAYMENT_MODE=${mode} lacks a setting that it needs.`);
  const { createMockFacilitator } = await import('../payment/settle/mock-facilitator.ts');
  return createMockFacilitator(terms, () => store.now());
}
