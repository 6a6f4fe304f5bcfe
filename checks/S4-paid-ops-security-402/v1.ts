/** S4: paid operations say so: 402, security, price. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, notEvaluated, pass, warn } from '../../src/model/verdict.ts';
import type { Operation } from '../../src/parse/openapi/openapi.ts';

/** In order of precedence. */
const WARNS = ['no-security', 'mpp-offers', 'no-price', 'legacy-form', 'no-protocols'] as const;
type Kind = (typeof WARNS)[number];

const DECLARE_FIX = 'Give each paid operation a 402 response, security and x-payment-info.';
const FIXES: Readonly<Record<Kind, string>> = {
  'no-security': 'Add "security": [{ "x402": [] }] to each paid operation.',
  'mpp-offers': 'Add price and protocols [{ "x402": {} }] to x-payment-info beside the MPP offers.',
  'no-price': 'Add x-payment-info.price: { "mode": "fixed", "currency": "USD", "amount": "0.01" }.',
  'legacy-form': 'Write price as { mode, currency, amount } and protocols as [{ "x402": {} }].',
  'no-protocols': 'Add "protocols": [{ "x402": {} }] to x-payment-info.',
};

export default defineCheck({
  id: 'S4',
  version: 1,
  needs: ['openapi', 'openapiAlternates', 'soft404', 'resources'],
  requires: ['P1', 'S1'],
  outcomes: ['nothing-declared', 'undeclared-402', 'no-402', ...WARNS, 'declared'],

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state !== 'found') {
      const what = reading.state === 'yaml' ? `${reading.path} is YAML` : reading.evidence;
      return notEvaluated('S1', what, 'Serve the OpenAPI document as JSON at /openapi.json.');
    }
    const { facts, path } = reading;
    const { probed } = seen.resources;
    const paid = facts.operations.filter((one) => one.paid && !one.signIn);
    const list = (operations: readonly Operation[]) =>
      operations
        .slice(0, 4)
        .map((one) => kit.request(one.method, one.template))
        .join(', ');

    if (paid.length === 0) {
      const challenged = kit.challenged(seen.resources).map(({ resource }) => resource);
      const evidence = `${path}: 0 of ${facts.operations.length} operations declared paid`;
      if (challenged.length === 0) return notEvaluated('P2', evidence, DECLARE_FIX);
      const answers = kit.answers(challenged);
      return fail('nothing-declared', `${evidence}, yet ${answers}`, DECLARE_FIX);
    }
    const hidden = facts.operations.filter((one) => !one.paid && kit.answers402(one, probed));
    if (hidden.length > 0) {
      const evidence = `${path} declares nothing of what answers 402: ${list(hidden)}`;
      return fail('undeclared-402', evidence, DECLARE_FIX);
    }
    const without = paid.filter((one) => !one.declares402);
    if (without.length > 0) {
      const evidence = `${without.length} of ${paid.length} without responses/402: ${list(without)}`;
      return fail('no-402', evidence, 'Add a 402 response to each paid operation.');
    }
    const { x402 } = kit.paymentSchemes(facts);
    const lacking = paid.map((one) => ({ one, kind: lackOf(one, x402) }));
    for (const kind of WARNS) {
      const same = lacking.filter((each) => each.kind === kind).map(({ one }) => one);
      if (same.length === 0) continue;
      const [first] = same;
      const pointer = first ? `, ${path}#${kit.quote(first.pointer)}` : '';
      const evidence = `${same.length} of ${paid.length} paid operations: ${list(same)}${pointer}`;
      return warn(kind, evidence, FIXES[kind]);
    }
    const evidence = `all ${paid.length} paid operations in ${path} say so: ${list(paid)}`;
    return pass('declared', evidence, 'Keep 402, security and price in each paid operation.');
  },
});

/** The first thing that an operation lacks; null where it has all. */
function lackOf(
  { security, price, protocols, protocolNames }: Operation,
  x402: readonly string[],
): Kind | null {
  const named = (security ?? []).flatMap((requirement) => Object.keys(requirement));
  if (!named.some((name) => x402.includes(name))) return 'no-security';
  if (price?.kind === 'mpp') return 'mpp-offers';
  if (price === null) return 'no-price';
  if (price.kind === 'legacy' || protocols === 'strings') return 'legacy-form';
  return protocolNames.includes('x402') ? null : 'no-protocols';
}
