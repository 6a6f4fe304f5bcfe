import { createOracle } from '../../buyers/create-oracle.ts';
import type { PreflightEngine } from '../../preflight/judge-challenge.ts';
import { preflightInHand } from '../../preflight/preflight.ts';
import { isPrice, type Preflight, toPreflight } from '../../preflight/result.ts';
import { askUrl, askUrlOnce, type UrlCall } from '../ask-url.ts';
import { startEngine } from '../engine.ts';

export type PreflightOptions = {
  /** The method of your paid request; default GET. A preflight by POST sends the body `{}`. */
  readonly method?: string;
  /** "0.05", in whole units of the asset. A higher price is a no-go. */
  readonly maxPrice?: string;
  /** True: http, private and loopback addresses, and any port, are allowed for this one origin; default false. */
  readonly allowPrivate?: boolean;
  /** True: the hook also refuses a payment if the verdict is caution; default false. Only the hook reads it. */
  readonly strict?: boolean;
};

export type PreflightHookOptions = PreflightOptions & {
  /**
   * The URL that you are going to pay. The hook requests it once, and refuses a challenge for another origin.
   * Without `url` the hook sends no request.
   */
  readonly url?: string;
};

/** The members that we read of the hook context of the official client. */
export type PaymentCreation = {
  readonly paymentRequired: { readonly x402Version: number };
  readonly selectedRequirements: object;
};

export type PreflightHook = (
  context: PaymentCreation,
) => Promise<undefined | { abort: true; reason: string }>;

/**
 * `preflight(url, { method, maxPrice })` requests a URL once, without a payment, and judges the answer.
 * `client.onBeforePaymentCreation(preflight({ url?, method? }))` judges the client's challenge, and
 * refuses a no-go before anything is signed. If our own engine fails, the hook rejects, so the client pays nothing.
 */
export function preflight(url: string, options?: PreflightOptions): Promise<Preflight>;
export function preflight(options?: PreflightHookOptions): PreflightHook;
export function preflight(
  urlOrOptions: string | PreflightHookOptions = {},
  options: PreflightOptions = {},
): Promise<Preflight> | PreflightHook {
  if (typeof urlOrOptions === 'string') return preflightOnce(urlOrOptions, options);
  // A malformed price throws here, before the first payment.
  readMaxPrice(urlOrOptions);
  const getEngine = createSharedEngine();
  return async (context) => decidePayment(context, urlOrOptions, await getEngine());
}

/** Async, so that a malformed price rejects the promise. */
async function preflightOnce(url: string, options: PreflightOptions): Promise<Preflight> {
  return askUrlOnce(toUrlCall(url, options));
}

/**
 * One engine serves all payments of a hook. The first payment opens it, which takes most of a second. Idle
 * threads end by themselves and keep no process alive, so nobody has to close the engine.
 */
function createSharedEngine(): () => Promise<PreflightEngine> {
  let sharedEngine: Promise<PreflightEngine> | null = null;
  return () => {
    sharedEngine ??= startEngine(null)
      .then((engine) => ({ ...engine, oracle: createOracle() }))
      .catch((error: unknown) => {
        sharedEngine = null;
        throw error;
      });
    return sharedEngine;
  };
}

async function decidePayment(
  context: PaymentCreation,
  options: PreflightHookOptions,
  engine: PreflightEngine,
): Promise<undefined | { abort: true; reason: string }> {
  const { url, strict = false } = options;
  const challengeVerdict = await judgeGivenChallenge(context, options, engine);
  const urlVerdict =
    url === undefined || challengeVerdict.verdict === 'no-go'
      ? null
      : await askUrl(toUrlCall(url, options), () => engine);
  const { verdict, reasons } = toPreflight([
    ...challengeVerdict.reasons,
    ...(urlVerdict?.reasons ?? []),
  ]);
  if (verdict === 'go' || (verdict === 'caution' && !strict)) return undefined;
  const [first] = reasons;
  const text = first === undefined ? '' : `${first.code}, ${first.evidence}`;
  return { abort: true, reason: `preflight: ${verdict}: ${text}` };
}

function judgeGivenChallenge(
  { paymentRequired, selectedRequirements }: PaymentCreation,
  options: PreflightHookOptions,
  engine: PreflightEngine,
): Promise<Preflight> {
  const { url = null } = options;
  const chosenIndex = findChosenIndex(paymentRequired, selectedRequirements);
  const buyer = { maxPrice: readMaxPrice(options), chosenIndex };
  return preflightInHand(paymentRequired, url, buyer, engine);
}

/** Index of the offer that the client chose; null if the challenge does not contain that offer. */
function findChosenIndex(required: object, selected: object): number | null {
  const accepts: unknown = 'accepts' in required ? required.accepts : null;
  if (!Array.isArray(accepts)) return null;
  const selectedJson = JSON.stringify(selected);
  const index = accepts.findIndex(
    (offer) => offer === selected || JSON.stringify(offer) === selectedJson,
  );
  return index === -1 ? null : index;
}

function toUrlCall(url: string, options: PreflightOptions): UrlCall {
  const { method = 'GET', allowPrivate = false } = options;
  const maxPrice = readMaxPrice(options);
  return { url, method: method.toUpperCase(), maxPrice, allowPrivate, caller: 'library' };
}

/** Throws TypeError for a malformed price, which would otherwise allow any price. */
function readMaxPrice({ maxPrice }: PreflightOptions): string | null {
  if (maxPrice === undefined) return null;
  if (isPrice(maxPrice)) return maxPrice;
  throw new TypeError(`maxPrice ${JSON.stringify(maxPrice)}: give a decimal such as "0.05"`);
}
