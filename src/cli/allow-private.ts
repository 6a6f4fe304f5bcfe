import { OriginRefused, type RefusalReason } from '../guard/errors.ts';
import { allowingOrigin, DEFAULT_POLICY, type OriginPolicy, parseOrigin } from '../guard/origin.ts';

const HINT = 'Add --allow-private to ask http, private and loopback addresses, on any port.';

/** Throws OriginRefused for an input that `--allow-private` would not allow either. */
export function policyFor(input: string, allowPrivate: boolean): OriginPolicy {
  return allowPrivate ? allowingOrigin(input, DEFAULT_POLICY) : DEFAULT_POLICY;
}

/** Refusals that `--allow-private` lifts. */
const LIFTED: readonly (RefusalReason | null)[] = [
  'scheme_or_form',
  'port',
  'special_use_name',
  'single_label',
  'blocked_ip',
];

/** Adds a hint at --allow-private to the refusal if the flag would help. */
export function withFlag(refusal: string, input: string): string {
  // A name is refused for the address that it resolves to, so the flag may help.
  const reason = refusalOf(input, DEFAULT_POLICY) ?? 'blocked_ip';
  const isLifted = LIFTED.includes(reason) && refusalOf(input, null) === null;
  return isLifted ? `${refusal} ${HINT}` : refusal;
}

/** Null for an accepted input. With a null policy the origin is an allowed exception. */
function refusalOf(input: string, policy: OriginPolicy | null): RefusalReason | null {
  try {
    parseOrigin(input, policy ?? allowingOrigin(input, DEFAULT_POLICY));
    return null;
  } catch (error) {
    if (error instanceof OriginRefused) return error.reason;
    throw error;
  }
}
