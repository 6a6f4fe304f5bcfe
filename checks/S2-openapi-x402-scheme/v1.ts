/** S2: the OpenAPI document has a security scheme for x402. Rule and sources: README.md. */
import { defineCheck, fail, needsOpenApi, OPENAPI_UNREAD, pass, warn } from '#check';

const FIX = 'Add components.securitySchemes.x402: { "type": "http", "scheme": "x402" }.';

const OUTCOMES = {
  ...OPENAPI_UNREAD,
  declared: pass('Keep the scheme, and name it in each paid operation.'),
  'api-key': warn(FIX),
  'protocols-only': warn(FIX),
  'not-declared': fail(FIX),
};

export default defineCheck({
  id: 'S2',
  version: 1,
  says: {
    right: 'The OpenAPI document has a security scheme for x402.',
    wrong: 'The OpenAPI document has no security scheme that tells clients of x402.',
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
    const place = `${path}#/components/securitySchemes`;
    const [x402Name] = x402;
    if (x402Name !== undefined) {
      const type = facts.securitySchemes.find(({ name }) => name === x402Name)?.type ?? '';
      return ['declared', `${place} has ${kit.quote(x402Name, 40)} of type ${kit.quote(type, 40)}`];
    }
    const [apiKeyName] = apiKeys;
    if (apiKeyName !== undefined) {
      // AgentCash assumes that apiKey operations need a key, and never pays them.
      const pointer = `/components/securitySchemes/${escapeStep(apiKeyName)}`;
      const evidence = `${path}#${kit.quotePointer(pointer)} has type apiKey, which AgentCash misreads`;
      return ['api-key', evidence];
    }
    const mention = facts.operations.find(({ protocolNames }) => protocolNames.includes('x402'));
    if (mention !== undefined) {
      const evidence = `${place} does not name x402; only protocols do, as in ${kit.quotePointer(mention.pointer)}`;
      return ['protocols-only', evidence];
    }
    const count = facts.securitySchemes.length;
    const evidence =
      count === 0
        ? `${place} is missing, so no scheme is for x402`
        : `${place} has ${count} schemes, none of them for x402`;
    return ['not-declared', evidence];
  },
});

/** Escapes a name for a JSON pointer (RFC 6901, section 3). */
function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
