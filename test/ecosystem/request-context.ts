/** The context in which tests ask third parties. */
import type { RequestContext } from '../../src/ecosystem/ask.ts';
import { startDeadline } from '../../src/ecosystem/deadline.ts';

/** Patient where an answer comes, short where the test is about one that does not. */
export const PATIENT_MS = 20_000;
export const SHORT_MS = 300;

export function requestContext(timeoutMs = PATIENT_MS): RequestContext {
  return { deadline: startDeadline(timeoutMs), userAgent: 'x402-conformance-scanner/test' };
}
