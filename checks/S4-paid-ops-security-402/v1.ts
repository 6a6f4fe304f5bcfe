/** S4: paid operations declare 402, security and price. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  listed,
  needsOpenApi,
  notApplicable,
  notEvaluated,
  OPENAPI_UNREAD,
  pass,
  warn,
  worst,
} from '#check';
import type { Kit } from '#kit';
import type { ResourceObservation, ResourceSet } from '#model';
import type { JsonValue } from '#parse/json';
import type { Operation } from '#parse/openapi';

const MAX_NAME_CHARS = 40;
const DECLARE_FIX = 'Give each paid operation a 402 response, security and x-payment-info.';

const OUTCOMES = {
  ...OPENAPI_UNREAD,
  'only-tools': notApplicable(DECLARE_FIX),
  'nothing-declared': fail(DECLARE_FIX),
  'undeclared-402': fail(DECLARE_FIX),
  'no-402': fail('Add a 402 response to each paid operation.'),
  'no-security': warn('Add "security": [{ "x402": [] }] to each paid operation.'),
  'mpp-offers': warn(
    'Add price and protocols [{ "x402": {} }] to x-payment-info beside the MPP offers.',
  ),
  'no-price': warn(
    'Add x-payment-info.price: { "mode": "fixed", "currency": "USD", "amount": "0.01" }.',
  ),
  'legacy-form': warn(
    'Write price as { mode, currency, amount } and protocols as [{ "x402": {} }].',
  ),
  'no-protocols': warn('Add "protocols": [{ "x402": {} }] to x-payment-info.'),
  declared: pass('Keep 402, security and price in each paid operation.'),
};
type Kind = keyof typeof OUTCOMES;

export default defineCheck({
  id: 'S4',
  version: 1,
  says: {
    right: 'Paid operations declare their 402, their security and their price.',
    wrong:
      'Paid operations do not declare their 402, their security or their price as clients read them.',
    unjudged:
      'It is not known whether paid operations declare their 402, their security and their price.',
  },
  needs: ['openapi', 'openapiAlternates', 'soft404', 'resources'],
  requires: ['P1', 'S1'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state !== 'found') return needsOpenApi(reading);
    const { facts, path } = reading;
    // OpenAPI cannot describe the tools of an MCP endpoint.
    const challenged = kit.challenged(seen.resources);
    const withoutTools = challenged.filter(({ resource }) => resource.tool === undefined);
    const challengedResources = withoutTools.map(({ resource }) => resource);
    // A declared sign-in sells nothing, unless its answer has a price.
    const signIns = kit.signIns(seen.resources);
    const paid = facts.operations.filter((operation) => {
      if (!operation.paid || kit.answers402(operation, signIns)) return false;
      return !operation.signIn || kit.answers402(operation, challengedResources);
    });
    const list = (operations: readonly Operation[]) =>
      listed(operations.map(({ method, template }) => kit.request(method, template)));

    if (paid.length === 0) {
      const evidence = `${path} declares 0 of ${facts.operations.length} operations paid`;
      if (withoutTools.length === 0 && challenged.length > 0) {
        const answers = kit.answers(challenged.map(({ resource }) => resource));
        return ['only-tools', `${evidence}; only MCP tools ask for payment: ${answers}`];
      }
      if (withoutTools.length === 0) return notEvaluated('P2', evidence, DECLARE_FIX);
      const requests = withoutTools.map(({ probe, resource }) =>
        kit.request(probe.method, resource.path),
      );
      const answers = [...new Set(requests)].map((request) => `${request}: 402`);
      return ['nothing-declared', `${evidence}, but ${listed(answers)}`];
    }
    const sold = findSold(seen.resources, kit);
    const undeclared = facts.operations.filter((each) => !each.paid && kit.answers402(each, sold));
    if (undeclared.length > 0) {
      return [
        'undeclared-402',
        `${path} does not declare as paid what answers 402: ${list(undeclared)}`,
      ];
    }
    const { x402, apiKeys } = kit.paymentSchemes(facts);
    // S2 reports the type of an apiKey scheme. A second finding here would have a fix that changes nothing.
    const acceptedSchemes = x402.length > 0 ? x402 : apiKeys;
    const findings = paid.map((each): readonly Found<Kind>[] => {
      const lack = findMissing(each, acceptedSchemes, facts.document, kit);
      if (lack === null) return [];
      const [kind, what] = lack;
      const place = `${path}#${kit.quotePointer(each.pointer)}`;
      return [[kind, `${kit.request(each.method, each.template)} ${what}, ${place}`]];
    });
    return (
      worst(OUTCOMES, findings) ?? [
        'declared',
        `${paid.length} of ${paid.length} paid operations in ${path} say that they are paid: ${list(paid)}`,
      ]
    );
  },
});

/** Lists the resources that sell, without sign-ins and without 402s that ask for no payment, such as "out of credits". */
function findSold(resources: ResourceSet, kit: Kit): readonly ResourceObservation[] {
  const selling = kit.selling(resources);
  const asksByOtherProtocol = ({ probes }: ResourceObservation) =>
    probes.some(({ answer }) => answer.ok && kit.otherChallenges(answer.data).length > 0);
  return resources.probed.filter(
    (resource) => selling.includes(resource) || asksByOtherProtocol(resource),
  );
}

/** Finds the first declaration that a paid operation lacks, with what it has instead; null if it has all. */
function findMissing(
  { declares402, security, paymentInfo, pointer, price, protocols, protocolNames }: Operation,
  acceptedSchemes: readonly string[],
  document: JsonValue,
  kit: Kit,
): readonly [Kind, string] | null {
  if (!declares402) return ['no-402', 'has no 402 response'];
  const schemeNames = (security ?? []).flatMap((requirement) => Object.keys(requirement));
  if (!schemeNames.some((name) => acceptedSchemes.includes(name))) {
    if (security === null) {
      const isStated = kit.at(document, `${pointer}/security`) !== undefined;
      return ['no-security', isStated ? 'has a security that is not a list' : 'has no security'];
    }
    const [first] = schemeNames;
    if (first === undefined) return ['no-security', 'has an empty security'];
    return ['no-security', `has the security ${kit.quote(first, MAX_NAME_CHARS)}`];
  }
  const isMisplaced = price !== null && !price.pointer.startsWith(`${pointer}/x-payment-info`);
  if (isMisplaced) {
    return [
      'no-price',
      `has its price at ${kit.quotePointer(price.pointer)}, where indexes do not read it`,
    ];
  }
  if (price?.kind === 'mpp') return ['mpp-offers', "has a price in MPP's form only"];
  if (price === null) {
    const member = paymentInfo === null ? 'x-payment-info' : 'x-payment-info.price';
    return ['no-price', `has no ${member}`];
  }
  if (price.kind === 'legacy') return ['legacy-form', 'has a price in an earlier form'];
  if (protocols === 'strings') return ['legacy-form', 'has protocols as texts'];
  if (protocolNames.includes('x402')) return null;
  return [
    'no-protocols',
    protocols === 'missing' ? 'has no protocols' : 'has protocols without x402',
  ];
}
