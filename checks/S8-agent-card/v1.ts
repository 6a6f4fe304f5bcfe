/** S8: agents find a card of this service by the A2A protocol. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, pass, warn } from '../../src/model/verdict.ts';
import type { JsonObject, JsonValue } from '../../src/parse/json/json.ts';

const PATH = '/.well-known/agent-card.json';
const OLD_PATH = '/.well-known/agent.json';

/** A2A specification, AgentCard: 0.3.0 section 5.5, 1.0 section 4.4.1. */
const COMMON = [
  'name',
  'description',
  'version',
  'capabilities',
  'defaultInputModes',
  'defaultOutputModes',
  'skills',
];
const REQUIRED_0_3 = ['protocolVersion', 'url', ...COMMON];
const REQUIRED_1_0 = ['supportedInterfaces', ...COMMON];
const SKILL = ['id', 'name', 'description', 'tags'];
const INTERFACE = ['url', 'protocolBinding', 'protocolVersion'];

const FIX = 'Serve /.well-known/agent-card.json with every field that A2A 0.3 or 1.0 requires.';
const HOST_FIX = 'Give the address of this host as the url of the card (1.0: of each interface).';

export default defineCheck({
  id: 'S8',
  version: 1,
  needs: ['origin', 'agentCard', 'agentJson', 'soft404'],
  requires: ['P1'],
  outcomes: ['absent', 'not-json', 'old-path', 'partial', 'other-host', 'complete'],

  evaluate({ origin, agentCard, agentJson, soft404 }, kit) {
    const reading = kit.document(PATH, agentCard, soft404);
    if (reading.state !== 'present') {
      const old = kit.document(OLD_PATH, agentJson, soft404);
      const isThere = old.state === 'present' && kit.json(old.body).ok;
      if (isThere) return warn('old-path', `${reading.evidence}; only ${OLD_PATH} is there`, FIX);
      return fail('absent', reading.evidence, FIX);
    }
    const json = kit.json(reading.body);
    if (!json.ok) return fail('not-json', `${PATH}: ${json.detail}`, FIX);
    if (!isObject(json.value)) return fail('not-json', `${PATH}: JSON, but no object`, FIX);

    const card = json.value;
    const missing = missingIn(card);
    if (missing.length > 0) {
      return warn('partial', `${PATH}: missing or of another type: ${missing.join(', ')}`, FIX);
    }
    const foreign = urlsOf(card).find((url) => hostOf(url) !== origin.hostname);
    if (foreign !== undefined) {
      return warn('other-host', `${PATH}: url ${kit.quote(foreign)} is on another host`, HOST_FIX);
    }
    const name = kit.quote(typeof card['name'] === 'string' ? card['name'] : '');
    return pass('complete', `${PATH}: ${name}, all required fields`, 'Keep the card complete.');
  },
});

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** A card of 1.0 says so by its interfaces; anything else is held against 0.3. */
function missingIn(card: JsonObject): readonly string[] {
  const isNew = card['supportedInterfaces'] !== undefined;
  return [
    ...(isNew ? REQUIRED_1_0 : REQUIRED_0_3).filter((name) => !isGiven(name, card[name])),
    ...membersMissing('skills', listOf(card['skills']), SKILL),
    ...(isNew
      ? membersMissing('supportedInterfaces', listOf(card['supportedInterfaces']), INTERFACE)
      : []),
  ];
}

/** Lists of required things hold at least one, but a card may have no skill to show. */
function isGiven(name: string, value: JsonValue | undefined): boolean {
  if (name === 'capabilities') return isObject(value);
  if (name === 'skills' || name === 'tags') return Array.isArray(value);
  if (/Modes$|Interfaces$/.test(name)) return Array.isArray(value) && value.length > 0;
  return typeof value === 'string' && value !== '';
}

function membersMissing(
  list: string,
  entries: readonly JsonValue[],
  required: readonly string[],
): readonly string[] {
  return entries.flatMap((entry, index) =>
    required
      .filter((name) => !isObject(entry) || !isGiven(name, entry[name]))
      .map((name) => `/${list}/${index}/${name}`),
  );
}

function urlsOf(card: JsonObject): readonly string[] {
  const urls = listOf(card['supportedInterfaces']).map((entry) =>
    isObject(entry) ? entry['url'] : undefined,
  );
  return (urls.length > 0 ? urls : [card['url']]).filter((url) => typeof url === 'string');
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : null;
}
