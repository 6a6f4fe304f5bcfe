import { OriginRefused, type RefusalReason } from '../scanner/guard/failures.ts';
import {
  allowOrigin,
  DEFAULT_POLICY,
  type OriginPolicy,
  parseOrigin,
} from '../scanner/guard/origin.ts';

const HINT = 'Add --allow-private to allow http, private and loopback addresses, on any port.';

/** Throws OriginRefused if `--allow-private` is set and the input is still not a valid origin. */
export function policyFor(input: string, allowPrivate: boolean): OriginPolicy {
  return allowPrivate ? allowOrigin(input, DEFAULT_POLICY) : DEFAULT_POLICY;
}

/** Reasons of refusals that `--allow-private` prevents. */
const PREVENTED_REASONS: readonly RefusalReason[] = [
  'scheme_or_form',
  'port',
  'special_use_name',
  'single_label',
  'blocked_ip',
];

/** Adds a hint at --allow-private to the message of a refusal if the flag would prevent that refusal. */
export function addFlagHint(message: string, input: string): string {
  // If the name itself is accepted, the guard refused an address that the name resolves to.
  const reason = findRefusalReason(input, false) ?? 'blocked_ip';
  const canPrevent = PREVENTED_REASONS.includes(reason) && findRefusalReason(input, true) === null;
  return canPrevent ? `${message} ${HINT}` : message;
}

/** Returns null for an accepted input. */
function findRefusalReason(input: string, allowPrivate: boolean): RefusalReason | null {
  try {
    parseOrigin(input, policyFor(input, allowPrivate));
    return null;
  } catch (error) {
    if (error instanceof OriginRefused) return error.reason;
    throw error;
  }
}
