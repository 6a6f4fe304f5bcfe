import { claimPayment } from './claim-payment.ts';
import { type Patch, type Stack, whyNot } from './patch.ts';
import type { PatchValues } from './patch-values.ts';
import { withInstall, writePatch } from './patches-for.ts';

type TrialTopic = 'paid-route' | 'no-store' | 'claim-payment' | 'upstream';

/** The patch that fixes a failure of each trial. */
const TOPICS: Readonly<Record<string, TrialTopic>> = {
  T1: 'paid-route',
  T2: 'paid-route',
  T3: 'paid-route',
  T4: 'paid-route',
  T5: 'paid-route',
  T6: 'upstream',
  T7: 'claim-payment',
  T8: 'claim-payment',
  T9: 'paid-route',
  T10: 'paid-route',
  T11: 'paid-route',
  T12: 'upstream',
  T13: 'no-store',
  T14: 'paid-route',
};

const UPSTREAM = whyNot(
  'only the middleware can mend it: take its newest version, and see what is known of it in docs/pay-test.md',
);

export type TrialPatch = { readonly topic: TrialTopic; readonly patch: Patch };

/** `trialId` is one of T1 to T14. */
export function trialPatch(trialId: string, stack: Stack, values: PatchValues): TrialPatch {
  const topic = TOPICS[trialId] ?? 'upstream';
  if (topic === 'upstream') return { topic, patch: UPSTREAM };
  if (topic === 'claim-payment') return { topic, patch: withInstall(claimPayment(stack)) };
  return { topic, patch: writePatch(topic, stack, values).patch };
}
