/** Preflight in a buyer's program: of a URL, or as a hook of the official client. */
import { allowingOrigin } from '../origin/allow-hosts.ts';
import { OriginRefused } from '../origin/errors.ts';
import { DEFAULT_POLICY } from '../origin/origin.ts';
import { createOracle } from '../payable/create-oracle.ts';
import { preflightInHand as preflightInHandOf } from '../preflight/challenge-in-hand.ts';
import { askedUrl, isPrice, preflightUrl, refusedPreflight } from '../preflight/preflight.ts';
import { type Preflight, type PreflightReason, preflightOf } from '../preflight/result.ts';
import { createProbeClient } from '../probe/client/client.ts';
import { scannerUserAgent } from '../probe/client/user-agent.ts';
import { openEngine } from './open-engine.ts';

export type PreflightOptions = {
  /** As you are going to send it; default GET. A POST of `{}` is sent where it is POST. */
  readonly method?: string;
  /** "0.05", in whole units of the asset: dearer is a no-go. */
  readonly maxPrice?: string;
  /** http, private and loopback addresses, any port, for this one origin; default false. */
  readonly allowPrivate?: boolean;
  /** Whether caution refuses a payment too; default false. Of the hook alone. */
  readonly strict?: boolean;
};

export type PreflightHookOptions = PreflightOptions & {
  /**
   * What you are going to buy: it is asked as well, and a challenge for another origin is refused.
   * Nothing is asked without it.
   */
  readonly url?: string;
};

/** What the official client tells before it signs; the members that are read of it. */
export type PaymentCreation = {
  readonly paymentRequired: { readonly x402Version: number };
  readonly selectedRequirements: object;
};

export type PreflightHook = (
  context: PaymentCreation,
) => Promise<undefined | { abort: true; reason: string }>;

/**
 * `preflight(url, { method, maxPrice })` asks a URL once, without a payment, and judges its answer.
 * `client.onBeforePaymentCreation(preflight({ url?, method? }))` judges the challenge in hand, and
 * refuses a no-go before anything is signed. What cannot be judged for a fault of ours is not paid.
 */
export function preflight(url: string, options?: PreflightOptions): Promise<Preflight>;
export function preflight(options?: PreflightHookOptions): PreflightHook;
export function preflight(
  first: string | PreflightHookOptions = {},
  options: PreflightOptions = {},
): Promise<Preflight> | PreflightHook {
  if (typeof first === 'string') return preflightOfUrl(first, options);
  limitOf(first);
  return (context) => refusalOf(context, first);
}

async function refusalOf(
  context: PaymentCreation,
  options: PreflightHookOptions,
): Promise<undefined | { abort: true; reason: string }> {
  const { url, strict = false } = options;
  const inHand = await preflightInHand(context, options);
  const asked =
    url === undefined || inHand.verdict === 'no-go' ? null : await preflightOfUrl(url, options);
  const reasons = [...inHand.reasons, ...(asked?.reasons ?? [])];
  const { verdict } = preflightOf(reasons);
  if (verdict === 'go' || (verdict === 'caution' && !strict)) return undefined;
  return { abort: true, reason: `preflight: ${verdict}: ${describe(reasons)}` };
}

function describe(reasons: readonly PreflightReason[]): string {
  const [first] = preflightOf(reasons).reasons;
  return first === undefined ? '' : `${first.code}, ${first.evidence}`;
}

async function preflightInHand(
  { paymentRequired, selectedRequirements }: PaymentCreation,
  options: PreflightHookOptions,
): Promise<Preflight> {
  const { url = null } = options;
  await using engine = await openEngine(undefined);
  const oracle = createOracle();
  try {
    const buyer = {
      maxPrice: limitOf(options),
      chosen: chosenOf(paymentRequired, selectedRequirements),
    };
    return await preflightInHandOf(paymentRequired, url, buyer, { ...engine, oracle });
  } finally {
    await oracle.close();
  }
}

/** Which offer the client chose; null where it made one up. */
function chosenOf(required: object, selected: object): number | null {
  const accepts: unknown = 'accepts' in required ? required.accepts : null;
  if (!Array.isArray(accepts)) return null;
  const wanted = JSON.stringify(selected);
  const at = accepts.findIndex((offer) => offer === selected || JSON.stringify(offer) === wanted);
  return at === -1 ? null : at;
}

async function preflightOfUrl(url: string, options: PreflightOptions): Promise<Preflight> {
  const { method = 'GET', allowPrivate = false } = options;
  const maxPrice = limitOf(options);
  try {
    const policy = allowPrivate ? allowingOrigin(url, DEFAULT_POLICY) : DEFAULT_POLICY;
    const asked = { ...askedUrl(url, policy), method: method.toUpperCase(), maxPrice };
    await using engine = await openEngine(undefined);
    const oracle = createOracle();
    const client = createProbeClient({ policy, userAgent: scannerUserAgent('library') });
    try {
      return await preflightUrl(asked, { ...engine, oracle, client, mayPost: true });
    } finally {
      client.close();
      await oracle.close();
    }
  } catch (error) {
    if (error instanceof OriginRefused) return refusedPreflight(error);
    throw error;
  }
}

/** Throws TypeError: a limit that is none would let everything through. */
function limitOf({ maxPrice }: PreflightOptions): string | null {
  if (maxPrice === undefined) return null;
  if (isPrice(maxPrice)) return maxPrice;
  throw new TypeError(`maxPrice ${JSON.stringify(maxPrice)}: give a decimal such as "0.05"`);
}
