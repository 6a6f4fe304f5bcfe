import { randomBytes, sign } from 'node:crypto';
import {
  type AnswerParser,
  type AnswerReader,
  createAnswerReader,
  DEFAULT_CAP_BYTES,
} from '../../answers/answer-reader.ts';
import { isEvmAddress, isSameAddress } from '../../config/parse-values.ts';
import type { CdpKey } from '../../config/payment.ts';
import { redact } from '../../model/redact.ts';
import {
  type Facilitator,
  type FacilitatorRequest,
  FacilitatorUnreachable,
  type SettleOutcome,
  toFacilitatorMessage,
  type VerifyOutcome,
} from './facilitator.ts';
import {
  FACILITATOR_ANSWER_PARSER,
  type FacilitatorAnswer,
  SUPPORTED_KINDS_PARSER,
} from './facilitator-answers.ts';
import { toOutcomeOfError, toSettleOutcome } from './settle-outcome.ts';

export type RemoteOptions = {
  readonly url: string;
  /** Keys of the Coinbase Developer Platform, for its facilitator only. */
  readonly cdpKey?: CdpKey | null;
  readonly verifyTimeoutMs?: number | undefined;
  readonly settleTimeoutMs?: number | undefined;
  /** Default: one of its own. */
  readonly answers?: AnswerReader | undefined;
};

const VERIFY_TIMEOUT_MS = 10_000;
/** A settlement waits for a block. The reconciler looks up settlements that take longer. */
const SETTLE_TIMEOUT_MS = 30_000;

type Call = 'verify' | 'settle' | 'supported';
type Reply<T> = { readonly status: number; readonly value: T };
/** Asks for one path of the facilitator. Rejects if nothing, or too much, was answered. */
type Ask = <T>(
  call: Call,
  parser: AnswerParser<T>,
  request?: FacilitatorRequest,
) => Promise<Reply<T>>;

/**
 * A facilitator over HTTP, with CDP's tokens if a key is given. The official client is not used: it reads and parses
 * whatever is answered, however long, on the thread that serves.
 */
export function createRemoteFacilitator(options: RemoteOptions): Facilitator {
  // Hosted facilitators may carry a key in the query; a path is part of their address.
  const { origin, pathname } = new URL(options.url);
  const location = `${origin}${pathname}`;
  const ask = askAt(options);

  return {
    kind: 'remote',
    location,
    async supported() {
      const failed = (cause: unknown) => {
        throw new FacilitatorUnreachable(`GET ${location}/supported failed`, { cause });
      };
      const { status, value } = await ask('supported', SUPPORTED_KINDS_PARSER).catch(failed);
      return status === 200 && value !== null ? value : failed(new Error(`HTTP ${status}`));
    },
    verify: (request) => verify(ask, request),
    settle: (request) => settle(ask, request),
  };
}

function askAt(options: RemoteOptions): Ask {
  const { cdpKey, answers = createAnswerReader() } = options;
  const { verifyTimeoutMs = VERIFY_TIMEOUT_MS, settleTimeoutMs = SETTLE_TIMEOUT_MS } = options;
  const createAuthHeaders = cdpKey ? createCdpHeaders({ key: cdpKey, url: options.url }) : null;

  return async (call, parser, request) => {
    const headers = (await createAuthHeaders?.())?.[call] ?? {};
    const url = new URL(options.url);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${call}`;
    const response = await fetch(url, {
      ...(request === undefined ? { headers } : posted(request, headers)),
      signal: AbortSignal.timeout(call === 'settle' ? settleTimeoutMs : verifyTimeoutMs),
    });
    const body = response.body ?? new Blob([]).stream();
    const value = await answers.read(body, DEFAULT_CAP_BYTES, parser, null);
    return { status: response.status, value };
  };
}

function posted(request: FacilitatorRequest, headers: Readonly<Record<string, string>>) {
  const { payload, requirements } = toFacilitatorMessage(request);
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      x402Version: payload.x402Version,
      paymentPayload: payload,
      paymentRequirements: requirements,
    }),
  };
}

async function verify(ask: Ask, request: FacilitatorRequest): Promise<VerifyOutcome> {
  try {
    const { status, value } = await ask('verify', FACILITATOR_ANSWER_PARSER, request);
    if (isOk(status) && value.isSuccess !== null) return verifyOutcome(value, request);
    const isRefusal = status < 500 && value.isSuccess !== null;
    if (isRefusal && value.reason !== undefined) return { kind: 'invalid', reason: value.reason };
    return { kind: 'unavailable', reason: describe(unexpected('verify', status, value)) };
  } catch (error) {
    return { kind: 'unavailable', reason: describe(error) };
  }
}

function verifyOutcome(
  { isSuccess, reason, payer }: FacilitatorAnswer,
  { payment }: FacilitatorRequest,
): VerifyOutcome {
  if (!isSuccess && reason === undefined) {
    return { kind: 'unavailable', reason: 'the facilitator refused without a reason' };
  }
  if (!isSuccess) return { kind: 'invalid', reason: reason ?? '' };
  const isOther =
    payer !== undefined &&
    !(isEvmAddress(payer) && isSameAddress(payer, payment.authorization.from));
  if (isOther) return { kind: 'unavailable', reason: 'the facilitator verified another payer' };
  return { kind: 'valid' };
}

async function settle(ask: Ask, request: FacilitatorRequest): Promise<SettleOutcome> {
  try {
    const { status, value } = await ask('settle', FACILITATOR_ANSWER_PARSER, request);
    const { isSuccess, transaction, network, reason, payer } = value;
    // Facilitators refuse with 400 or 402 too. A body with a status from 500 on proves nothing.
    const isWhole = !isOk(status) || (transaction !== undefined && network !== undefined);
    if (status >= 500 || isSuccess === null || !isWhole) {
      return toOutcomeOfError(unexpected('settle', status, value));
    }
    const response = {
      success: isOk(status) && isSuccess,
      transaction: transaction ?? '',
      network: (network ?? '') as `${string}:${string}`, // compared with ours, whatever it is
      ...(reason === undefined ? {} : { errorReason: reason }),
      ...(payer === undefined ? {} : { payer }),
    };
    return toSettleOutcome(response, request.payment);
  } catch (error) {
    return toOutcomeOfError(error);
  }
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

function unexpected(call: Call, status: number, { excerpt }: FacilitatorAnswer): Error {
  return new Error(`the facilitator answered ${call} with ${status}: ${excerpt || 'nothing'}`);
}

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return redact(text).slice(0, 300);
}

/** Lifetime of a token, as the platform's own SDK sets it. */
const TOKEN_LIFETIME_SEC = 120;
const NONCE_BYTES = 16;
const METHODS = { verify: 'POST', settle: 'POST', supported: 'GET' } as const;

export type CdpAuthOptions = {
  readonly key: CdpKey;
  /** URL of the facilitator; a token is valid for one method and one path below it. */
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
};

/** Makes the headers of one request to each path: a JWT each, signed with a key of the Coinbase Developer Platform. */
export function createCdpHeaders({ key, url, now = Date.now }: CdpAuthOptions) {
  const { host, pathname } = new URL(url);
  const base = `${host}${pathname.replace(/\/+$/, '')}`;
  const headerFor = (name: keyof typeof METHODS) => ({
    Authorization: `Bearer ${cdpToken(key, `${METHODS[name]} ${base}/${name}`, now())}`,
  });
  return async () => ({
    verify: headerFor('verify'),
    settle: headerFor('settle'),
    supported: headerFor('supported'),
  });
}

/** @param uri method and URL without its scheme, as the platform's servers compare them */
function cdpToken({ id, privateKey }: CdpKey, uri: string, nowMs: number): string {
  const isEd25519 = privateKey.asymmetricKeyType === 'ed25519';
  const nowSec = Math.floor(nowMs / 1_000);
  const header = {
    alg: isEd25519 ? 'EdDSA' : 'ES256',
    kid: id,
    typ: 'JWT',
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
  };
  const claims = {
    sub: id,
    iss: 'cdp',
    uris: [uri],
    iat: nowSec,
    nbf: nowSec,
    exp: nowSec + TOKEN_LIFETIME_SEC,
  };
  const signed = `${encode(header)}.${encode(claims)}`;
  // JWTs carry the two numbers of an ECDSA signature side by side, not in DER.
  const signature = isEd25519
    ? sign(null, Buffer.from(signed), privateKey)
    : sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
