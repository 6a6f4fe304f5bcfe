/** S6: /.well-known/x402 lists what is sold here, and is right about it. Rule: README.md. */
import {
  absence,
  defineCheck,
  documentOutcomes,
  type Found,
  fail,
  overLimit,
  pass,
  type Seen,
  warn,
  worst,
} from '#check';
import type { Kit } from '#kit';
import type { Challenge } from '#parse/challenge';

const NEEDS = ['origin', 'manifest', 'manifestJson', 'soft404', 'resources'] as const;
const PATH = '/.well-known/x402';

const SERVE_FIX =
  'Serve JSON at /.well-known/x402: { "x402Version": 2, "resources": ["https://…"] }.';
const LIST_FIX = 'List each paid resource by its absolute https URL on this origin.';
const TERMS_FIX = 'Build manifest and routes from the same constants.';
/** A recipient that a template left to be filled in: "0xYOUR_WALLET_ADDRESS_HERE". Sui and Aptos have 64 hex digits. */
const UNFILLED_RECIPIENT =
  /^0x(?![0-9a-f]{1,64}$)|your[-_ ](?:wallet|address|evm|solana)|placeholder|change[-_ ]?me|<[^>]*>/i;

const OUTCOMES = {
  'only-json': warn('Serve the same document at /.well-known/x402.'),
  ...documentOutcomes(SERVE_FIX),
  'over-limit': overLimit('manifest', '1 MiB, 50,000 values and a depth of 64'),
  'not-json': fail(SERVE_FIX),
  'unknown-shape': fail(SERVE_FIX),
  'no-address': fail('Give each entry its absolute URL in "resource".'),
  'no-entries': fail(LIST_FIX),
  'http-entries': warn(
    'Write https URLs: behind a proxy, trust the proxy or take the URL from a setting.',
  ),
  'no-own-entry': warn(LIST_FIX),
  'off-origin': warn(LIST_FIX),
  'odd-address': warn(
    'Put the absolute URL of each entry in "resource", in a list named "resources".',
  ),
  'recipient-differs': warn(TERMS_FIX),
  'price-differs': warn(TERMS_FIX),
  complete: pass('Update it whenever the routes change.'),
};
type Kind = keyof typeof OUTCOMES;

export default defineCheck({
  id: 'S6',
  version: 1,
  says: {
    right: '/.well-known/x402 lists what is sold here, and is right about it.',
    wrong: '/.well-known/x402 does not list what is sold here, or is wrong about it.',
    unjudged: 'It is not known whether /.well-known/x402 lists what is sold here.',
  },
  needs: NEEDS,
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const reading = kit.manifest(seen);
    if (reading.state === 'none') {
      const missing = absence(PATH, seen.manifest, seen.soft404, kit);
      return missing ?? ['unknown-shape', `${PATH} is JSON in a shape that we do not know`];
    }
    const { facts, path } = reading;
    if (facts.shape === 'unknown') {
      const { misshapen } = facts;
      const evidence =
        misshapen === undefined
          ? `${path} is JSON, but has no list of resources, endpoints or items`
          : `${path}#${misshapen} is not a list of addresses`;
      return ['unknown-shape', evidence];
    }
    const { entries } = facts;
    if (entries.length === 0) {
      const { unaddressed } = facts;
      return unaddressed === undefined
        ? ['no-entries', `${path} has 0 entries`]
        : ['no-address', `${path}#${unaddressed} has no resource or url`];
    }
    const countText = entries.length === 1 ? '1 entry' : `${entries.length} entries`;
    const atUsualPath = kit.document(PATH, seen.manifest, seen.soft404);
    if (atUsualPath.state === 'rate-limited') return ['rate-limited', atUsualPath.evidence];
    if (!reading.canonical) {
      return ['only-json', `${path} has ${countText}, and ${PATH} has no such list`];
    }
    const foreignEntries = entries.filter(
      ({ target }) => kit.sameOrigin(seen.origin.url, target) === null,
    );
    const [firstForeign] = foreignEntries;
    if (firstForeign !== undefined) {
      const share = `${foreignEntries.length} of ${countText}`;
      const evidence = `${share}: ${path}#${firstForeign.pointer} is ${kit.quote(firstForeign.target)}`;
      if (foreignEntries.length < entries.length) return ['off-origin', evidence];
      const isHttp = foreignEntries.some(({ target }) => isOwnHttp(target, seen.origin.hostname));
      return [isHttp ? 'http-entries' : 'no-own-entry', evidence];
    }
    const odd = entries.find(({ oddPlace }) => oddPlace !== undefined);
    if (odd?.oddPlace !== undefined) {
      const place = `${path}#${odd.oddPlace} is the address of an entry`;
      return ['odd-address', `${place}: indexes read only resource and url of a list "resources"`];
    }
    const complete: Found<Kind> = ['complete', `${path} has ${countText} on this origin`];
    const unfilled = [{ pointer: '', payTo: facts.payTo }, ...entries].find(
      ({ payTo }) => payTo !== null && UNFILLED_RECIPIENT.test(payTo),
    );
    if (unfilled !== undefined) {
      const place = `${path}#${unfilled.pointer}`;
      const recipient = kit.quote(unfilled.payTo ?? '');
      return [
        'recipient-differs',
        `${place} has the recipient ${recipient}, which is not an address`,
      ];
    }
    return worst(OUTCOMES, listDifferences(seen, kit)) ?? complete;
  },
});

function isOwnHttp(target: string, hostname: string): boolean {
  const url = URL.parse(target);
  return url?.protocol === 'http:' && url.hostname === hostname;
}

/** Lists, for each resource that challenged, the statements of the manifest that its challenge contradicts. */
function listDifferences(seen: Seen<(typeof NEEDS)[number]>, kit: Kit): (readonly Found<Kind>[])[] {
  const reading = kit.manifest(seen);
  if (reading.state !== 'found') return [];
  return kit.challenged(seen.resources).map((challenged) => {
    const { prices, recipients } = kit.manifestTerms(reading.facts, seen.origin.url, challenged);
    const request = kit.request(challenged.probe.method, challenged.resource.path);
    // A price that changes between two requests cannot be compared. P6 reports it.
    const isSteady =
      challenged.second === null ||
      formatAmounts(challenged.second) === formatAmounts(challenged.reading.challenge);
    const wrongTerms = [
      ...recipients.map((term) => ({ ...term, name: 'recipient-differs' as const })),
      ...(isSteady ? prices : []).map((term) => ({ ...term, name: 'price-differs' as const })),
    ].filter(({ agrees }) => !agrees);
    return wrongTerms.map(({ name, pointer, stated, live }): Found<Kind> => {
      const place = `${reading.path}#${pointer} is ${kit.quote(stated)}`;
      return [name, `${place}, but ${request} asks ${kit.quote(live)}`];
    });
  });
}

/** Formats amounts as JSON, because a seller may send any type. */
function formatAmounts({ offers }: Challenge): string {
  return JSON.stringify(offers.map(({ amount }) => JSON.stringify(amount) ?? '').toSorted());
}
