/** S2: the OpenAPI document has a security scheme that says x402. Rule and sources: README.md. */
import { defineCheck, fail, needsOpenApi, pass, warn } from '../../src/engine/define-check.ts';

const FIX = 'Add components.securitySchemes.x402: { "type": "http", "scheme": "x402" }.';

const OUTCOMES = {
  declared: pass('Keep the scheme, and name it in each paid operation.'),
  'api-key': warn(FIX),
  'protocols-only': warn(FIX),
  'not-declared': fail(FIX),
};

export default defineCheck({
  id: 'S2',
  version: 1,
  says: {
    right: 'The OpenAPI document has a security scheme that says x402.',
    wrong: 'The OpenAPI document has no security scheme by which clients see x402.',
    unjudged: 'It is not known whether clients can see x402 in the OpenAPI document.',
  },
  needs: ['openapi', 'openapiAlternates', 'soft404'],
  requires: ['P1', 'S1'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state !== 'found') return needsOpenApi(reading);
    const { facts, path } = reading;
    const { x402, apiKeys } = kit.paymentSchemes(facts);
    const where = `${path}#/components/securitySchemes`;
    const [name] = x402;
    if (name !== undefined) {
      const type = facts.securitySchemes.find((one) => one.name === name)?.type ?? '';
      return ['declared', `${where}: ${kit.quote(name, 40)} of type ${kit.quote(type, 40)}`];
    }
    const [key] = apiKeys;
    if (key !== undefined) {
      // AgentCash takes apiKey operations for ones that want a key, and never pays them.
      const evidence = `${where}: ${kit.quote(key, 40)} is an apiKey, which AgentCash misreads`;
      return ['api-key', evidence];
    }
    const mention = facts.operations.find(({ protocolNames }) => protocolNames.includes('x402'));
    if (mention !== undefined) {
      const evidence = `x402 only in protocols of ${kit.quote(mention.pointer)}, not in ${where}`;
      return ['protocols-only', evidence];
    }
    return ['not-declared', `${where}: ${facts.securitySchemes.length}, none for x402`];
  },
});
