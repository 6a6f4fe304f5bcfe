import { allowingOrigin } from '../guard/allow-hosts.ts';
import { OriginRefused } from '../guard/errors.ts';
import { DEFAULT_POLICY, type OriginPolicy } from '../guard/origin.ts';

const HINT = 'Add --allow-private to ask http, private and loopback addresses, on any port.';

/** Throws OriginRefused where no flag would let the input through. */
export function policyFor(input: string, allowPrivate: boolean): OriginPolicy {
  return allowPrivate ? allowingOrigin(input, DEFAULT_POLICY) : DEFAULT_POLICY;
}

/** Why the input was refused without --allow-private, and the flag where it would help. */
export function withFlag(refusal: string, input: string): string {
  return isAllowable(input) ? `${refusal} ${HINT}` : refusal;
}

function isAllowable(input: string): boolean {
  try {
    allowingOrigin(input, DEFAULT_POLICY);
    return true;
  } catch (error) {
    if (error instanceof OriginRefused) return false;
    throw error;
  }
}
