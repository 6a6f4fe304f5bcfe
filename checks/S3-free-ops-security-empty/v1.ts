/** S3: free operations have an empty security. Rule and sources: README.md. */
import {
  defineCheck,
  fail,
  listed,
  needsOpenApi,
  notApplicable,
  OPENAPI_UNREAD,
  pass,
  warn,
} from '../../src/engine/define-check.ts';
import type { OpenApiFacts, Operation } from '../../src/parse/openapi/openapi.ts';

/** These methods accompany other operations, and no buyer calls them on their own. */
const COMPANION_METHODS: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'TRACE']);

const FIX = 'Add "security": [] to each free operation (FastAPI: openapi_extra={"security": []}).';

const OUTCOMES = {
  ...OPENAPI_UNREAD,
  'no-free-operations': notApplicable('Give free operations "security": [].'),
  'none-declared': fail(FIX),
  'some-undeclared': warn(FIX),
  declared: pass('Give each new free operation "security": [] too.'),
};

export default defineCheck({
  id: 'S3',
  version: 1,
  says: {
    right: 'Free operations say in OpenAPI that they are free.',
    wrong: 'Free operations do not say in OpenAPI that they are free.',
    unjudged: 'It is not known whether free operations say that they are free.',
  },
  needs: ['openapi', 'openapiAlternates', 'soft404', 'resources'],
  requires: ['P1', 'S1'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state !== 'found') return needsOpenApi(reading);
    const { facts, path } = reading;
    const freeOperations = facts.operations.filter(
      (operation) =>
        !operation.paid &&
        !COMPANION_METHODS.has(operation.method) &&
        // S4 reports an operation that answers 402 and does not declare it.
        !kit.answers402(operation, seen.resources.probed),
    );
    if (freeOperations.length === 0) {
      const evidence = `${path} has ${facts.operations.length} operations, none of them free`;
      return ['no-free-operations', evidence];
    }
    const { x402, apiKeys } = kit.paymentSchemes(facts);
    const schemesForPayment = new Set([...x402, ...apiKeys]);
    const undeclaredOperations = freeOperations.filter(
      (operation) => !isDeclaredFree(operation, facts, schemesForPayment),
    );
    if (undeclaredOperations.length === 0)
      return [
        'declared',
        `all ${freeOperations.length} free operations in ${path} say that they are free`,
      ];
    const list = listed(
      undeclaredOperations.map(({ method, template }) => kit.request(method, template)),
    );
    const name =
      undeclaredOperations.length === freeOperations.length ? 'none-declared' : 'some-undeclared';
    return [
      name,
      `${undeclaredOperations.length} of ${freeOperations.length} free operations in ${path} do not say that they are free: ${list}`,
    ];
  },
});

/** True if a call needs neither a payment nor an undefined scheme. It may need a login (siwx, bearer). */
function isDeclaredFree(
  { security }: Operation,
  { securitySchemes }: OpenApiFacts,
  schemesForPayment: ReadonlySet<string>,
): boolean {
  if (security === null) return false;
  if (security.length === 0) return true;
  return security.some((requirement) =>
    Object.keys(requirement).every(
      (name) =>
        !schemesForPayment.has(name) && securitySchemes.some((scheme) => scheme.name === name),
    ),
  );
}
