import { randomBytes, sign } from 'node:crypto';
import {
  type AnswerParser,
  type AnswerReader,
  createAnswerReader,
  DEFAULT_CAP_BYTES,
} from '../../../scanner/third-parties/answer-reader.ts';
import type { CdpKey } from '../../config/payment.ts';
import { type PaymentTiming, toPaymentTiming } from '../timing.ts';
import {
  type Facilitator,
  type FacilitatorRequest,
  FacilitatorUnreachable,
  type SettleOutcome,
  toFacilitatorMessage,
  type VerifyOutcome,
} from './facilitator.ts';
import {
  describeError,
  FACILITATOR_ANSWER_PARSER,
  type FacilitatorAnswer,
  isSamePayer,
  SUPPORTED_KINDS_PARSER,
  toOutcomeOfError,
  toSettleOutcome,
} from './facilitator-answers.ts';

type RemoteOptions = {
  readonly url: string;
  /** Keys of the Coinbase Developer Platform, for its facilitator only. */
  readonly cdpKey?: CdpKey | null;
  readonly timing?: PaymentTiming;
  /** By default, the facilitator gets its own reader. */
  readonly answers?: AnswerReader | undefined;
};

type Endpoint = 'verify' | 'settle' | 'supported';

/** Sends a request to one endpoint of the facilitator. Rejects if there is no answer, or the answer is too long. */
type Ask = <T>(
  endpoint: Endpoint,
  parser: AnswerParser<T>,
  request?: FacilitatorRequest,
) => Promise<{ readonly status: number; readonly value: T }>;

/** The official client is not used, because it parses answers of any length on the thread that serves requests. */
export function createRemoteFacilitator(options: RemoteOptions): Facilitator {
  // The query may hold a key of a hosted facilitator, so the location leaves it out.
  const { origin, pathname } = new URL(options.url);
  const location = `${origin}${pathname}`;
  const ask = createAsk(options);

  return {
    kind: 'remote',
    location,
    async findSupported() {
      const fail = (cause: unknown) => {
        throw new FacilitatorUnreachable(`GET ${location}/supported failed`, { cause });
      };
      const { status, value } = await ask('supported', SUPPORTED_KINDS_PARSER).catch(fail);
      return status === 200 && value !== null ? value : fail(new Error(`HTTP ${status}`));
    },
    verify: (request) => verify(ask, request),
    settle: (request) => settle(ask, request),
  };
}

function createAsk(options: RemoteOptions): Ask {
  const { cdpKey, answers = createAnswerReader(), timing = toPaymentTiming() } = options;
  const createAuthHeaders = cdpKey ? createCdpHeaders(cdpKey, options.url) : null;

  return async (endpoint, parser, request) => {
    const headers = createAuthHeaders?.(endpoint) ?? {};
    const url = new URL(options.url);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${endpoint}`;
    const response = await fetch(url, {
      ...(request === undefined ? { headers } : toPostOptions(request, headers)),
      // A redirect could lead to an address of our own network.
      redirect: 'error',
      signal: AbortSignal.timeout(
        endpoint === 'settle' ? timing.settleTimeoutMs : timing.verifyTimeoutMs,
      ),
    });
    const body = response.body ?? new Blob([]).stream();
    const value = await answers.read(body, DEFAULT_CAP_BYTES, parser, null);
    return { status: response.status, value };
  };
}

function toPostOptions(request: FacilitatorRequest, headers: Readonly<Record<string, string>>) {
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
    const { isSuccess, reason, payer } = value;
    if (isOk(status) && isSuccess) {
      const isForPayer =
        payer === undefined || isSamePayer(payer, request.payment.authorization.from);
      if (isForPayer) return { kind: 'valid' };
      return { kind: 'unavailable', reason: 'the facilitator verified another payer' };
    }
    // Facilitators also refuse with 400 or 402. With a status of 500 or more the body proves nothing.
    const isRefusal = status < 500 && isSuccess !== null && reason !== undefined;
    if (isRefusal) return { kind: 'invalid', reason };
    throw toUnexpectedError('verify', status, value);
  } catch (error) {
    return { kind: 'unavailable', reason: describeError(error) };
  }
}

async function settle(ask: Ask, request: FacilitatorRequest): Promise<SettleOutcome> {
  try {
    const { status, value } = await ask('settle', FACILITATOR_ANSWER_PARSER, request);
    const { isSuccess, transaction, network } = value;
    // An answer of 2xx must name transaction and network, also if it refuses. Other refusals need not.
    const isComplete = !isOk(status) || (transaction !== undefined && network !== undefined);
    if (status >= 500 || isSuccess === null || !isComplete) {
      throw toUnexpectedError('settle', status, value);
    }
    return toSettleOutcome({ ...value, isSuccess: isOk(status) && isSuccess }, request.payment);
  } catch (error) {
    return toOutcomeOfError(error);
  }
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

function toUnexpectedError(
  endpoint: Endpoint,
  status: number,
  { excerpt }: FacilitatorAnswer,
): Error {
  return new Error(`the facilitator answered ${endpoint} with ${status}: ${excerpt || 'nothing'}`);
}

/** The platform's own SDK uses the same lifetime of a token. */
const TOKEN_LIFETIME_SEC = 120;
const NONCE_BYTES = 16;

/** The returned function makes headers with a JWT, which is valid for one method and one path at `url`. */
export function createCdpHeaders(key: CdpKey, url: string) {
  const { host, pathname } = new URL(url);
  const base = `${host}${pathname.replace(/\/+$/, '')}`;
  return (endpoint: Endpoint) => {
    const method = endpoint === 'supported' ? 'GET' : 'POST';
    return { Authorization: `Bearer ${createToken(key, `${method} ${base}/${endpoint}`)}` };
  };
}

/** @param uri method and URL without its scheme, which the platform compares with the request */
function createToken({ id, privateKey }: CdpKey, uri: string): string {
  const isEd25519 = privateKey.asymmetricKeyType === 'ed25519';
  const nowSec = Math.floor(Date.now() / 1_000);
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
  const signedText = `${encodeBase64Url(header)}.${encodeBase64Url(claims)}`;
  // A JWT holds the two numbers of an ECDSA signature one after the other, not as DER.
  const signature = isEd25519
    ? sign(null, Buffer.from(signedText), privateKey)
    : sign('sha256', Buffer.from(signedText), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signedText}.${signature.toString('base64url')}`;
}

function encodeBase64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
