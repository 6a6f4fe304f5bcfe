/** S6: /.well-known/x402 lists what is sold here, and is right about it. Rule: README.md. */
import { defineCheck, type Seen } from '../../src/engine/define-check.ts';
import { fail, pass, warn } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge } from '../../src/parse/x402/challenge.ts';

const NEEDS = ['origin', 'manifest', 'manifestJson', 'soft404', 'resources'] as const;
const PATH = '/.well-known/x402';

const SERVE_FIX =
  'Serve JSON at /.well-known/x402: { "x402Version": 2, "resources": ["https://…"] }.';
const LIST_FIX = 'List each paid resource by its absolute https URL on this origin.';
const TERMS_FIX = 'Build manifest and routes from the same constants.';

export default defineCheck({
  id: 'S6',
  version: 1,
  needs: NEEDS,
  requires: ['P1'],
  outcomes: [
    'unreadable',
    'absent',
    'soft-404',
    'html',
    'oversize',
    'not-json',
    'unknown-shape',
    'no-entries',
    'only-json',
    'http-entries',
    'no-own-entry',
    'off-origin',
    'recipient-differs',
    'price-differs',
    'complete',
  ],

  evaluate(seen, kit) {
    const reading = kit.manifest(seen);
    if (reading.state === 'none') return judgeAbsence(seen, kit);
    const { facts, path } = reading;
    if (facts.shape === 'unknown') {
      const evidence = `GET ${path}: JSON, but no list of resources, endpoints or items`;
      return fail('unknown-shape', evidence, SERVE_FIX);
    }
    const { entries } = facts;
    if (entries.length === 0) return fail('no-entries', `GET ${path}: 0 entries`, LIST_FIX);
    if (!reading.canonical) {
      const evidence = `GET ${path}: ${entries.length} entries, nothing at ${PATH}`;
      return warn('only-json', evidence, 'Serve the same document at /.well-known/x402.');
    }
    const foreign = entries.filter(
      ({ target }) => kit.sameOrigin(seen.origin.url, target) === null,
    );
    const [first] = foreign;
    if (first !== undefined) {
      const count = `${foreign.length} of ${entries.length} entries`;
      const evidence = `${count}: ${path}#${first.pointer} is ${kit.quote(first.target)}`;
      if (foreign.length < entries.length) return warn('off-origin', evidence, LIST_FIX);
      if (foreign.some(({ target }) => isOwnHttp(target, seen.origin.hostname))) {
        const fix = 'Write https URLs: behind a proxy, trust it or take the URL from a setting.';
        return warn('http-entries', evidence, fix);
      }
      return warn('no-own-entry', evidence, LIST_FIX);
    }
    const difference = findDifference(seen, kit);
    if (difference !== null) return warn(difference.kind, difference.evidence, TERMS_FIX);
    const evidence = `GET ${path}: ${entries.length} entries on this origin`;
    return pass('complete', evidence, 'Keep it in step with the routes.');
  },
});

function judgeAbsence(seen: Seen<(typeof NEEDS)[number]>, kit: Kit) {
  const reading = kit.document(PATH, seen.manifest, seen.soft404);
  if (reading.state !== 'present') return fail(reading.state, reading.evidence, SERVE_FIX);
  const json = kit.json(reading.body);
  const detail = json.ok ? 'JSON of no known shape' : json.detail;
  return fail('not-json', `GET ${PATH}: 200, ${detail}`, SERVE_FIX);
}

function isOwnHttp(target: string, hostname: string): boolean {
  const url = URL.parse(target);
  return url?.protocol === 'http:' && url.hostname === hostname;
}

type Difference = {
  readonly kind: 'recipient-differs' | 'price-differs';
  readonly evidence: string;
};

function findDifference(seen: Seen<(typeof NEEDS)[number]>, kit: Kit): Difference | null {
  const reading = kit.manifest(seen);
  if (reading.state !== 'found') return null;
  const found = kit.challenged(seen.resources).flatMap((one): Difference[] => {
    const { prices, recipients } = kit.manifestTerms(reading.facts, seen.origin.url, one);
    const request = kit.request(one.probe.method, one.resource.path);
    // A price that changes between two requests is no price to compare with: P6 says so.
    const isSteady =
      one.second === null || amountsOf(one.second) === amountsOf(one.reading.challenge);
    const wrong = [
      ...recipients.map((term) => ({ ...term, kind: 'recipient-differs' as const })),
      ...(isSteady ? prices : []).map((term) => ({ ...term, kind: 'price-differs' as const })),
    ].filter(({ agrees }) => !agrees);
    return wrong.map(({ kind, pointer, stated, live }) => ({
      kind,
      evidence: `${reading.path}#${pointer} is ${kit.quote(stated)}, ${request} asks ${kit.quote(live)}`,
    }));
  });
  return found.find(({ kind }) => kind === 'recipient-differs') ?? found[0] ?? null;
}

function amountsOf({ offers }: Challenge): string {
  return JSON.stringify(offers.map(({ amount }) => amount).toSorted());
}
