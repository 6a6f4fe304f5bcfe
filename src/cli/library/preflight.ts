import { createOracle } from '../../buyers/create-oracle.ts';
import type { PreflightEngine } from '../../preflight/judge-challenge.ts';
import { preflightInHand } from '../../preflight/preflight.ts';
import { isPrice } from '../../preflight/preflight-request.ts';
import { type Preflight, type PreflightReason, toPreflight } from '../../preflight/result.ts';
import { askUrl, askUrlOnce, type UrlCall } from '../ask-url.ts';
import { startEngine } from '../engine.ts';

export type PreflightOptions = {
  /** The method of your paid request; default GET. A preflight by POST sends the body `{}`. */
  readonly method?: string;
  /** "0.05", in whole units of the asset; a higher price is a no-go. */
  readonly maxPrice?: string;
  /** http, private and loopback addresses, any port, for this one origin; default false. */
  readonly allowPrivate?: boolean;
  /** True: the hook refuses a payment on caution too; default false. Only the hook reads it. */
  readonly strict?: boolean;
};

export type PreflightHookOptions = PreflightOptions & {
  /**
   * The URL that you are going to pay. It is requested once too, and a challenge for another origin is
   * refused. Without it no request is sent.
   */
  readonly url?: string;
};

/** The members of the official client's hook context that are read. */
export type PaymentCreation = {
  readonly paymentRequired: { readonly x402Version: number };
  readonly selectedRequirements: object;
};

export type PreflightHook = (
  context: PaymentCreation,
) => Promise<undefined | { abort: true; reason: string }>;

/**
 * `preflight(url, { method, maxPrice })` requests a URL once, without a payment, and judges its answer.
 * `client.onBeforePaymentCreation(preflight({ url?, method? }))` judges the client's challenge, and
 * refuses a no-go before anything is signed. Rejects, so that nothing is paid, if our own engine fails.
 */
export function preflight(url: string, options?: PreflightOptions): Promise<Preflight>;
export function preflight(options?: PreflightHookOptions): PreflightHook;
export function preflight(
  first: string | PreflightHookOptions = {},
  options: PreflightOptions = {},
): Promise<Preflight> | PreflightHook {
  if (typeof first === 'string') return preflightOnce(first, options);
  limitOf(first);
  const openOnce = createEngineOnce();
  return async (context) => refusalOf(context, first, await openOnce());
}

/**
 * One engine serves all payments of a hook; the first opens it, which takes most of a second. Idle
 * threads end by themselves and keep no process alive, so nothing has to be closed.
 */
function createEngineOnce(): () => Promise<PreflightEngine> {
  let opened: Promise<PreflightEngine> | null = null;
  return () => {
    opened ??= startEngine(null)
      .then((engine) => ({ ...engine, oracle: createOracle() }))
      .catch((error: unknown) => {
        opened = null;
        throw error;
      });
    return opened;
  };
}

async function refusalOf(
  context: PaymentCreation,
  options: PreflightHookOptions,
  engine: PreflightEngine,
): Promise<undefined | { abort: true; reason: string }> {
  const { url, strict = false } = options;
  const inHand = await judgeInHand(context, options, engine);
  const preflight =
    url === undefined || inHand.verdict === 'no-go'
      ? null
      : await askUrl(callOf(url, options), () => engine);
  const reasons = [...inHand.reasons, ...(preflight?.reasons ?? [])];
  const { verdict } = toPreflight(reasons);
  if (verdict === 'go' || (verdict === 'caution' && !strict)) return undefined;
  return { abort: true, reason: `preflight: ${verdict}: ${describe(reasons)}` };
}

function describe(reasons: readonly PreflightReason[]): string {
  const [first] = toPreflight(reasons).reasons;
  return first === undefined ? '' : `${first.code}, ${first.evidence}`;
}

function judgeInHand(
  { paymentRequired, selectedRequirements }: PaymentCreation,
  options: PreflightHookOptions,
  engine: PreflightEngine,
): Promise<Preflight> {
  const { url = null } = options;
  const chosen = chosenOf(paymentRequired, selectedRequirements);
  return preflightInHand(paymentRequired, url, { maxPrice: limitOf(options), chosen }, engine);
}

/** Index of the offer that the client chose; null for one that the challenge does not contain. */
function chosenOf(required: object, selected: object): number | null {
  const accepts: unknown = 'accepts' in required ? required.accepts : null;
  if (!Array.isArray(accepts)) return null;
  const wanted = JSON.stringify(selected);
  const at = accepts.findIndex((offer) => offer === selected || JSON.stringify(offer) === wanted);
  return at === -1 ? null : at;
}

async function preflightOnce(url: string, options: PreflightOptions): Promise<Preflight> {
  return askUrlOnce(callOf(url, options));
}

function callOf(url: string, options: PreflightOptions): UrlCall {
  const { method = 'GET', allowPrivate = false } = options;
  const maxPrice = limitOf(options);
  return { url, method: method.toUpperCase(), maxPrice, allowPrivate, caller: 'library' };
}

/** Throws TypeError for a malformed limit, which would otherwise allow any price. */
function limitOf({ maxPrice }: PreflightOptions): string | null {
  if (maxPrice === undefined) return null;
  if (isPrice(maxPrice)) return maxPrice;
  throw new TypeError(`maxPrice ${JSON.stringify(maxPrice)}: give a decimal such as "0.05"`);
}
