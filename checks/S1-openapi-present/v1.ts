/** S1: /openapi.json describes what is sold here. Rule and sources: README.md. */
import { defineCheck, type Seen } from '../../src/engine/define-check.ts';
import { fail, pass, warn } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

const NEEDS = ['openapi', 'openapiAlternates', 'soft404'] as const;
const PATH = '/openapi.json';
/** Also application/vnd.oai.openapi+json (RFC 6839: the +json suffix). */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const SERVE_FIX = 'Serve an OpenAPI 3.1 document as JSON at /openapi.json.';
const LIST_FIX = 'Describe each operation under paths, the paid ones first.';
const TYPE_FIX = 'Send /openapi.json with Content-Type: application/json.';

export default defineCheck({
  id: 'S1',
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
    'not-openapi-3',
    'no-paths',
    'yaml-only',
    'elsewhere',
    'no-title',
    'odd-content-type',
    'no-contact',
    'no-guidance',
    'complete',
  ],

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state === 'none') return judgeAbsence(seen, kit);
    const { path } = reading;
    if (reading.state === 'yaml') return warn('yaml-only', `${path}: YAML, not read`, SERVE_FIX);

    const { facts, answer } = reading;
    if (facts.version === null || !facts.version.startsWith('3.')) {
      const stated = facts.version === null ? 'none' : kit.quote(facts.version, 20);
      const swagger = facts.swagger ? ', Swagger 2' : '';
      return fail('not-openapi-3', `${path}#/openapi: ${stated}${swagger}`, SERVE_FIX);
    }
    if (facts.paths === 0) return fail('no-paths', `${path}#/paths: none`, LIST_FIX);
    if (!reading.canonical) {
      return warn('elsewhere', `GET ${path}: 200, nothing at ${PATH}`, SERVE_FIX);
    }
    if (facts.title === null || facts.infoVersion === null) {
      const member = facts.title === null ? 'title' : 'version';
      return warn('no-title', `${path}#/info/${member}: missing`, 'Fill info.title and version.');
    }
    // Some servers send the header twice.
    const types = kit.headers(answer, 'content-type');
    if (!types.some((type) => JSON_TYPE.test(type))) {
      return warn('odd-content-type', `${path}: ${kit.quote(types.join(', '))}`, TYPE_FIX);
    }
    if (!facts.hasContact) {
      const fix = 'Add info.contact with an email or URL that buyers can reach.';
      return warn('no-contact', `${path}#/info/contact: missing`, fix);
    }
    if (!facts.hasGuidance) {
      const fix = 'Add info["x-guidance"]: how an agent should use these operations, in prose.';
      return warn('no-guidance', `${path}#/info/x-guidance: missing`, fix);
    }
    const evidence = `GET ${path}: OpenAPI ${kit.quote(facts.version, 20)}, ${facts.paths} paths`;
    return pass('complete', evidence, 'Keep it in step with the routes.');
  },
});

function judgeAbsence(seen: Seen<(typeof NEEDS)[number]>, kit: Kit) {
  const reading = kit.document(PATH, seen.openapi, seen.soft404);
  if (reading.state !== 'present') return fail(reading.state, reading.evidence, SERVE_FIX);
  const json = kit.json(reading.body);
  if (!json.ok) return fail('not-json', `GET ${PATH}: 200, ${json.detail}`, SERVE_FIX);
  return fail('not-openapi-3', `GET ${PATH}: 200, ${kit.show(json.value)}`, SERVE_FIX);
}
