import { HTTPFacilitatorClient } from '@x402/core/http';
import {
  SettleError,
  type SettleResponse,
  VerifyError,
  type VerifyResponse,
} from '@x402/core/types';
import { isEvmAddress, isSameAddress } from '../../config/parse-values.ts';
import type { CdpKey } from '../../config/payment.ts';
import { redact } from '../../model/redact.ts';
import { cdpAuthHeaders } from './cdp-auth.ts';
import {
  type Facilitator,
  type FacilitatorRequest,
  FacilitatorUnreachable,
  type SettleOutcome,
  type VerifyOutcome,
} from './facilitator.ts';
import { facilitatorMessage } from './payload.ts';
import { settleOutcome, settleOutcomeOfError } from './settle-outcome.ts';

export type RemoteOptions = {
  readonly url: string;
  /** Keys of the Coinbase Developer Platform, for its facilitator alone. */
  readonly cdpKey?: CdpKey | null;
  readonly verifyTimeoutMs?: number | undefined;
  readonly settleTimeoutMs?: number | undefined;
};

const VERIFY_TIMEOUT_MS = 10_000;
/** A settlement waits for a block. The reconciler looks up settlements that take longer. */
const SETTLE_TIMEOUT_MS = 30_000;

/** Uses the official client over HTTP, with CDP's tokens where a key is given. */
export function createRemoteFacilitator(options: RemoteOptions): Facilitator {
  const { url, cdpKey } = options;
  const auth = cdpKey ? { createAuthHeaders: cdpAuthHeaders({ key: cdpKey, url }) } : {};
  const clientFor = (timeoutMs: number) => new HTTPFacilitatorClient({ url, timeoutMs, ...auth });
  const asking = clientFor(options.verifyTimeoutMs ?? VERIFY_TIMEOUT_MS);
  const settling = clientFor(options.settleTimeoutMs ?? SETTLE_TIMEOUT_MS);
  // Hosted facilitators may carry a key in the query; a path is part of their address.
  const { origin, pathname } = new URL(url);

  return {
    kind: 'remote',
    location: `${origin}${pathname}`,
    async supported() {
      try {
        return (await asking.getSupported()).kinds;
      } catch (cause) {
        throw new FacilitatorUnreachable(`GET ${origin}${pathname}/supported failed`, { cause });
      }
    },
    verify: (request) => verify(asking, request),
    settle: (request) => settle(settling, request),
  };
}

async function verify(
  client: HTTPFacilitatorClient,
  request: FacilitatorRequest,
): Promise<VerifyOutcome> {
  const { payload, requirements } = facilitatorMessage(request);
  try {
    return verifyOutcome(await client.verify(payload, requirements), request);
  } catch (error) {
    const isRefusal = error instanceof VerifyError && error.statusCode < 500;
    if (isRefusal && error.invalidReason !== undefined) {
      return { kind: 'invalid', reason: error.invalidReason };
    }
    return { kind: 'unavailable', reason: describe(error) };
  }
}

function verifyOutcome(
  { isValid, invalidReason, payer }: VerifyResponse,
  { payment }: FacilitatorRequest,
): VerifyOutcome {
  if (!isValid && invalidReason === undefined) {
    return { kind: 'unavailable', reason: 'the facilitator refused without a reason' };
  }
  if (!isValid) return { kind: 'invalid', reason: invalidReason ?? '' };
  const isOther =
    payer !== undefined &&
    !(isEvmAddress(payer) && isSameAddress(payer, payment.authorization.from));
  if (isOther) return { kind: 'unavailable', reason: 'the facilitator verified another payer' };
  return { kind: 'valid' };
}

async function settle(
  client: HTTPFacilitatorClient,
  request: FacilitatorRequest,
): Promise<SettleOutcome> {
  const { payload, requirements } = facilitatorMessage(request);
  try {
    return settleOutcome(await client.settle(payload, requirements), request.payment);
  } catch (error) {
    // Facilitators refuse with 400 or 402 too. A body with a status from 500 on proves nothing.
    if (error instanceof SettleError && error.statusCode < 500) {
      return settleOutcome(responseOf(error), request.payment);
    }
    return settleOutcomeOfError(error);
  }
}

function responseOf({ errorReason, transaction, network, payer }: SettleError): SettleResponse {
  return {
    success: false,
    transaction,
    network,
    ...(errorReason === undefined ? {} : { errorReason }),
    ...(payer === undefined ? {} : { payer }),
  };
}

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return redact(text).slice(0, 300);
}
