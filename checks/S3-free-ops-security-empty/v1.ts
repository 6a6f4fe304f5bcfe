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
} from '#check';
import type { Operation } from '#parse/openapi';

const SAY_FIX =
  'Say of each operation if it is paid (a 402 response and x-payment-info) or free ("security": []; FastAPI: openapi_extra={"security": []}).';
const FIX =
  'Give the free operations named here "security": [] (FastAPI: openapi_extra={"security": []}), and say of each other operation if it is paid or free.';

const OUTCOMES = {
  ...OPENAPI_UNREAD,
  'no-free-operations': notApplicable('Give free operations "security": [].'),
  'none-declared': fail(FIX),
  'some-undeclared': warn(FIX),
  unsaid: warn(SAY_FIX),
  declared: pass('Give each new free operation "security": [] too.'),
};

export default defineCheck({
  id: 'S3',
  version: 1,
  says: {
    right: 'Free operations say in OpenAPI that they are free.',
    wrong: 'OpenAPI does not say of every operation if it is paid or free.',
    unjudged: 'It is not known whether free operations say that they are free.',
  },
  needs: [
    'origin',
    'root',
    'soft404',
    'openapi',
    'openapiAlternates',
    'manifest',
    'manifestJson',
    'llmsTxt',
    'agentCard',
    'agentJson',
    'robots',
    'resources',
    'links',
  ],
  requires: ['P1', 'S1'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state !== 'found') return needsOpenApi(reading);
    const { facts, path } = reading;
    const { free, login, answered: undeclared, unknown } = kit.unpricedOperations(facts, seen);
    const declaredCount = free.length + login.length;
    const freeCount = declaredCount + undeclared.length;
    const total = facts.operations.length;
    if (freeCount + unknown.length === 0) {
      return ['no-free-operations', `${path} has ${total} operations, none of them free`];
    }
    const list = (operations: readonly Operation[]) =>
      listed(
        operations.map(
          ({ method, template, pointer }) =>
            `${kit.request(method, template)}, ${path}#${kit.quotePointer(pointer)}`,
        ),
      );
    if (undeclared.length > 0) {
      const others =
        unknown.length === 0
          ? ''
          : `; of ${unknown.length} more, it is not known if they are paid or free`;
      return [
        declaredCount === 0 ? 'none-declared' : 'some-undeclared',
        `${undeclared.length} of ${freeCount} free operations in ${path} do not say that they are free: ${list(undeclared)}${others}`,
      ];
    }
    if (unknown.length > 0) {
      const evidence = `${unknown.length} of ${total} operations in ${path} do not say if they are paid or free: ${list(unknown)}`;
      return ['unsaid', evidence];
    }
    return [
      'declared',
      `${freeCount} of ${freeCount} free operations in ${path} say that they are free`,
    ];
  },
});
