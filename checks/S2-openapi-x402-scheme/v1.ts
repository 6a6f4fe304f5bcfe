/** S2: the OpenAPI document has a security scheme that says x402. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, notEvaluated, pass, warn } from '../../src/model/verdict.ts';

const FIX = 'Add components.securitySchemes.x402: { "type": "http", "scheme": "x402" }.';

export default defineCheck({
  id: 'S2',
  version: 1,
  needs: ['openapi', 'openapiAlternates', 'soft404'],
  requires: ['P1', 'S1'],
  outcomes: ['declared', 'api-key', 'protocols-only', 'not-declared'],

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state !== 'found') {
      const what = reading.state === 'yaml' ? `${reading.path} is YAML` : reading.evidence;
      return notEvaluated('S1', what, 'Serve the OpenAPI document as JSON at /openapi.json.');
    }
    const { facts, path } = reading;
    const { x402, apiKeys } = kit.paymentSchemes(facts);
    const where = `${path}#/components/securitySchemes`;
    const [name] = x402;
    if (name !== undefined) {
      const scheme = facts.securitySchemes.find((one) => one.name === name);
      const evidence = `${where}: ${kit.quote(name, 40)} of type ${kit.quote(scheme?.type ?? '', 40)}`;
      return pass('declared', evidence, 'Keep the scheme, and name it in each paid operation.');
    }
    const [key] = apiKeys;
    if (key !== undefined) {
      // AgentCash takes apiKey operations for ones that want a key, and never pays them.
      const evidence = `${where}: ${kit.quote(key, 40)} is an apiKey, which AgentCash misreads`;
      return warn('api-key', evidence, FIX);
    }
    const mention = facts.operations.find(({ protocolNames }) => protocolNames.includes('x402'));
    if (mention !== undefined) {
      const evidence = `x402 only in protocols of ${kit.quote(mention.pointer)}, not in ${where}`;
      return warn('protocols-only', evidence, FIX);
    }
    return fail('not-declared', `${where}: ${facts.securitySchemes.length}, none for x402`, FIX);
  },
});
