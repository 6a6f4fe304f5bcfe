import { allowingOrigin } from '../guard/allow-hosts.ts';
import { OriginRefused, type RefusalReason } from '../guard/errors.ts';
import { DEFAULT_POLICY, type OriginPolicy, parseOrigin } from '../guard/origin.ts';

const HINT = 'Add --allow-private to ask http, private and loopback addresses, on any port.';

/** Throws OriginRefused where no flag would let the input through. */
export function policyFor(input: string, allowPrivate: boolean): OriginPolicy {
  return allowPrivate ? allowingOrigin(input, DEFAULT_POLICY) : DEFAULT_POLICY;
}

/** Refusals that the flag lifts. */
const LIFTED: readonly (RefusalReason | null)[] = [
  'scheme_or_form',
  'port',
  'special_use_name',
  'single_label',
  'blocked_ip',
];

/** Why the input was refused without --allow-private, and the flag where it would help. */
export function withFlag(refusal: string, input: string): string {
  // A name that is no address is refused for the address that it resolves to.
  const reason = refusalOf(input, DEFAULT_POLICY) ?? 'blocked_ip';
  const isLifted = LIFTED.includes(reason) && refusalOf(input, null) === null;
  return isLifted ? `${refusal} ${HINT}` : refusal;
}

/** Null for an input that is accepted; without a policy it is allowed as an exception. */
function refusalOf(input: string, policy: OriginPolicy | null): RefusalReason | null {
  try {
    parseOrigin(input, policy ?? allowingOrigin(input, DEFAULT_POLICY));
    return null;
  } catch (error) {
    if (error instanceof OriginRefused) return error.reason;
    throw error;
  }
}
