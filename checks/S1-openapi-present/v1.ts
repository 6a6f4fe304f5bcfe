/** S1: /openapi.json describes what is sold here. Rule and sources: README.md. */
import {
  absence,
  defineCheck,
  documentOutcomes,
  type Finding,
  fail,
  overLimit,
  pass,
  type Seen,
  warn,
} from '#check';
import type { Kit, OpenApiReading } from '#kit';

type FoundOpenApi = Extract<OpenApiReading, { state: 'found' }>;

const NEEDS = ['openapi', 'openapiAlternates', 'soft404'] as const;
const PATH = '/openapi.json';
/** Also matches application/vnd.oai.openapi+json; RFC 6839 defines the suffix +json. */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const SERVE_FIX = 'Serve an OpenAPI 3.1 document as JSON at /openapi.json.';
const BUNDLE_FIX = 'Write the operations into the document: agents read no other file by $ref.';
const QUOTE_FIX = 'Write the version of OpenAPI as a text: "openapi": "3.1.0".';
const OUTCOMES = {
  'yaml-only': warn(SERVE_FIX),
  elsewhere: warn(SERVE_FIX),
  ...documentOutcomes(SERVE_FIX),
  'over-limit': overLimit('OpenAPI document', '8 MiB, 300,000 values and a depth of 64'),
  'not-json': fail(SERVE_FIX),
  'not-openapi-3': fail(SERVE_FIX),
  'no-paths': fail('Describe each operation under paths, the paid ones first.'),
  'no-title': warn('Fill in info.title and info.version, as texts.'),
  'external-path': warn(BUNDLE_FIX),
  'local-server': warn(
    'Set servers to the public URL of this origin, or leave it out: clients call what it names.',
  ),
  'odd-servers': warn('Write servers as a list of objects: [{ "url": "https://…" }].'),
  'odd-content-type': warn('Send /openapi.json with Content-Type: application/json.'),
  'no-contact': warn('Add info.contact with an email or URL that buyers can reach.'),
  'no-guidance': warn(
    'Add info["x-guidance"]: how an agent should use these operations, in prose.',
  ),
  complete: pass('Update it whenever the routes change.'),
};

export default defineCheck({
  id: 'S1',
  version: 1,
  says: {
    right: '/openapi.json describes what is sold here.',
    wrong: '/openapi.json does not describe what is sold here, or leaves out who sells it and how.',
    unjudged: 'It is not known whether /openapi.json describes what is sold here.',
  },
  needs: NEEDS,
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const reading = kit.openapi(seen);
    if (reading.state === 'unread') return [reading.why, reading.evidence];
    if (reading.state === 'none') {
      const missing = absence(PATH, seen.openapi, seen.soft404, kit, kit.openapiJson);
      // YAML that cannot be read explains why there is no document.
      const yamlNotes = seen.openapiAlternates.flatMap(({ path, yaml }) =>
        yaml !== undefined && 'fault' in yaml ? `GET ${path}: 200, ${yaml.fault}` : [],
      );
      if (missing !== null) {
        const [outcome, evidence, fix] = missing;
        return [outcome, [evidence, ...yamlNotes].join('; '), fix];
      }
      return ['not-openapi-3', `GET ${PATH}: 200, ${kit.show(readJson(seen, kit))}`];
    }
    const { path, facts } = reading;

    if (facts.version === null || !facts.version.startsWith('3.')) {
      const stated = kit.at(facts.document, '/openapi');
      if (typeof stated === 'number') {
        return ['not-openapi-3', `${path}#/openapi is the number ${stated}, not a text`, QUOTE_FIX];
      }
      const version = facts.version === null ? 'none' : kit.quote(facts.version, 20);
      const swaggerNote = facts.swagger ? ', Swagger 2' : '';
      return ['not-openapi-3', `${path}#/openapi: ${version}${swaggerNote}`];
    }
    if (facts.pathCount === 0) return ['no-paths', `${path}#/paths is empty`];
    if (facts.operations.length === 0 && facts.externalPath !== null) {
      return ['no-paths', describeExternal(reading, facts.externalPath, kit), BUNDLE_FIX];
    }
    const atUsualPath = kit.document(PATH, seen.openapi, seen.soft404);
    if (atUsualPath.state === 'rate-limited') return ['rate-limited', atUsualPath.evidence];
    if (reading.isYaml) {
      return ['yaml-only', `the document is YAML at ${path}, and agents read JSON at ${PATH}`];
    }
    if (!reading.canonical)
      return ['elsewhere', `the document is at ${path}, and ${PATH} has no usable one`];
    return judgeDetails(reading, kit);
  },
});

function describeExternal({ path, facts }: FoundOpenApi, pointer: string, kit: Kit): string {
  const ref = kit.show(kit.at(facts.document, `${pointer}/$ref`));
  return `${path}#${kit.quotePointer(pointer)} is in another file: $ref is ${ref}`;
}

/** The JSON at /openapi.json; undefined if there is none. */
function readJson({ openapi }: Seen<'openapi'>, kit: Kit) {
  const json = openapi.ok ? kit.openapiJson(openapi.data.body) : null;
  return json?.ok ? json.value : undefined;
}

/** Judges a usable document at its usual path. */
function judgeDetails(reading: FoundOpenApi, kit: Kit): Finding<keyof typeof OUTCOMES> {
  const { path, facts, answer } = reading;
  if (facts.title === null || facts.infoVersion === null) {
    const pointer = facts.title === null ? '/info/title' : '/info/version';
    const value = kit.at(facts.document, pointer);
    const what = typeof value === 'number' ? `the number ${value}, not a text` : 'missing';
    return ['no-title', `${path}#${pointer} is ${what}`];
  }
  if (facts.externalPath !== null) {
    return ['external-path', describeExternal(reading, facts.externalPath, kit)];
  }
  const pointer = facts.operations.find(({ localServer }) => localServer !== null)?.localServer;
  if (typeof pointer === 'string') {
    const url = kit.show(kit.at(facts.document, `${pointer}/url`));
    const place = `${path}#${kit.quotePointer(pointer)}`;
    return ['local-server', `${place} is ${url}: clients of this document call their own machine`];
  }
  const servers = kit.at(facts.document, '/servers') ?? [];
  if (!Array.isArray(servers)) {
    return ['odd-servers', `${path}#/servers is ${kit.show(servers)}, not a list: nobody reads it`];
  }
  // Some servers send the header twice.
  const types = kit.headers(answer, 'content-type');
  if (!types.some((type) => JSON_TYPE.test(type))) {
    return [
      'odd-content-type',
      types.length === 0
        ? `${path} has no Content-Type`
        : `${path} has Content-Type ${kit.quote(types.join(', '))}`,
    ];
  }
  if (!facts.hasContact) return ['no-contact', `${path}#/info/contact is missing`];
  if (!facts.hasGuidance) return ['no-guidance', `${path}#/info/x-guidance is missing`];
  const version = kit.quote(facts.version ?? '', 20);
  return ['complete', `GET ${path}: OpenAPI ${version}, ${facts.pathCount} paths`];
}
