/** S3: operations that cost nothing say so, by an empty security. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, notApplicable, notEvaluated, pass, warn } from '../../src/model/verdict.ts';
import type { OpenApiFacts, Operation } from '../../src/parse/openapi/openapi.ts';

/** What goes with other operations: nobody calls these for their own sake, free or paid. */
const COMPANIONS: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'TRACE']);

const FIX = 'Add "security": [] to each free operation (FastAPI: openapi_extra={"security": []}).';

export default defineCheck({
  id: 'S3',
  version: 1,
  needs: ['openapi', 'openapiAlternates', 'soft404', 'resources'],
  requires: ['P1', 'S1'],
  outcomes: ['no-free-operations', 'none-declared', 'some-undeclared', 'declared'],

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state !== 'found') {
      const what = reading.state === 'yaml' ? `${reading.path} is YAML` : reading.evidence;
      return notEvaluated('S1', what, 'Serve the OpenAPI document as JSON at /openapi.json.');
    }
    const { facts, path } = reading;
    const free = facts.operations.filter(
      (one) =>
        !one.paid &&
        !COMPANIONS.has(one.method) &&
        // Nobody declared it paid, yet it is: S4's finding, not a free operation.
        !kit.answers402(one, seen.resources.probed),
    );
    if (free.length === 0) {
      const evidence = `${path} has ${facts.operations.length} operations, none of them free`;
      return notApplicable('no-free-operations', evidence, 'Give free operations "security": [].');
    }
    const { x402, apiKeys } = kit.paymentSchemes(facts);
    const payment = new Set([...x402, ...apiKeys]);
    const open = free.filter((one) => !isDeclared(one, facts, payment));
    const list = open
      .slice(0, 4)
      .map((one) => kit.request(one.method, one.template))
      .join(', ');
    const count = `${open.length} of ${free.length} free operations in ${path}`;
    if (open.length === free.length) {
      return fail('none-declared', `${count} do not say so: ${list}`, FIX);
    }
    if (open.length > 0) return warn('some-undeclared', `${count} do not say so: ${list}`, FIX);
    const evidence = `all ${free.length} free operations in ${path} say so`;
    return pass('declared', evidence, 'Give each new free operation "security": [] too.');
  },
});

/** Nothing required, an anonymous alternative, or a login that is none of payment (siwx, bearer). */
function isDeclared(
  { security }: Operation,
  { securitySchemes }: OpenApiFacts,
  payment: ReadonlySet<string>,
): boolean {
  if (security === null) return false;
  if (security.length === 0) return true;
  return security.some((requirement) =>
    Object.keys(requirement).every(
      (name) => !payment.has(name) && securitySchemes.some((scheme) => scheme.name === name),
    ),
  );
}
