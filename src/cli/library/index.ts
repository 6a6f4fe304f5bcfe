/** The library: scans, judges and preflights by the engine of the command line, for your program. */
import { openClients } from '../../scanner/clients/open-clients.ts';
import { parseOrigin } from '../../scanner/guard/origin.ts';
import type { ScanReport } from '../../scanner/model/report.ts';
import { OFFLINE_STANDING } from '../../scanner/model/standing.ts';
import type { PreflightEngine } from '../../scanner/preflight/judge-challenge.ts';
import { preflightInHand } from '../../scanner/preflight/preflight.ts';
import { isPrice, type Preflight, toPreflight } from '../../scanner/preflight/result.ts';
import { scannerUserAgent } from '../../scanner/probe/client/user-agent.ts';
import { parseRecording } from '../../scanner/probe/read-recording.ts';
import { createScanner } from '../../scanner/scan/run-scan.ts';
import { policyFor } from '../allow-private.ts';
import { askUrl, askUrlOnce, type UrlCall } from '../ask-url.ts';
import { judgeRecording, startEngine } from '../engine.ts';

export type {
  CheckResult,
  Grade,
  ScanReport,
  Severity,
  SubScores,
} from '../../scanner/model/report.ts';
export type {
  Preflight,
  PreflightOffer,
  PreflightReason,
  PreflightTerms,
  PreflightVerdict,
  ReasonCode,
} from '../../scanner/preflight/result.ts';

export type ScanOptions = {
  /** True: http, private and loopback addresses, and any port, are allowed for this one origin; default false. */
  readonly allowPrivate?: boolean;
  /** True: no index is asked, and the standing checks are `not_determined`; default false. */
  readonly offline?: boolean;
  /** "2026-08-14.2"; default the newest. */
  readonly checksVersion?: string;
  /** Aborts with the signal's reason. */
  readonly signal?: AbortSignal;
};

/**
 * `origin` is an https URL or a bare host. An unreachable origin gets a report with grade F. Throws
 * OriginRefused if the guard refuses the origin, ScannerFailure if our own code fails, and Error if there is no
 * catalog `checksVersion`.
 */
export async function scan(origin: string, options: ScanOptions = {}): Promise<ScanReport> {
  const { allowPrivate = false, offline = false, checksVersion, signal } = options;
  const policy = policyFor(origin, allowPrivate);
  const parsedOrigin = parseOrigin(origin, policy);
  // The packages for blockchain nodes load slowly, and an offline scan does not need them.
  const standing = offline
    ? OFFLINE_STANDING
    : (await import('../standing.ts')).createCliStanding(process.env);
  const engine = await startEngine(checksVersion ?? null, 'checksVersion');
  const scanner = createScanner({
    ...engine,
    policy,
    standing,
    userAgent: scannerUserAgent('library'),
    clients: openClients(),
  });
  try {
    const { report } = await scanner.scan(parsedOrigin, { signal });
    return report;
  } finally {
    await scanner.close();
  }
}

export type JudgeOptions = Pick<ScanOptions, 'checksVersion' | 'signal'>;

/**
 * Judges the observations of an earlier scan. The same recording gives the same report, byte for byte.
 * `recording` is the parsed JSON of a file that `x402-scan scan --save FILE` wrote.
 * Throws RecordingError if it is not a recording, and Error if there is no catalog `checksVersion`.
 */
export async function judge(recording: unknown, options: JudgeOptions = {}): Promise<ScanReport> {
  const parsedRecording = parseRecording(recording, 'the recording');
  const engine = await startEngine(options.checksVersion ?? null, 'checksVersion');
  try {
    return (await judgeRecording(parsedRecording, engine, options.signal)).report;
  } finally {
    await engine.pool.close();
  }
}

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
      .then((engine) => ({ ...engine, clients: openClients() }))
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
): ReturnType<PreflightHook> {
  const { url, strict = false } = options;
  const { paymentRequired, selectedRequirements } = context;
  const chosenIndex = findChosenIndex(paymentRequired, selectedRequirements);
  const buyer = { maxPrice: readMaxPrice(options), chosenIndex };
  const challengeVerdict = await preflightInHand(paymentRequired, url ?? null, buyer, engine);
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
