/** S8: agents find a card of this service by the A2A protocol. Rule and sources: README.md. */
import { defineCheck, fail, listed, overLimit, pass, passageFix, rateLimited, warn } from '#check';
import type { Kit } from '#kit';
import type { JsonObject, JsonValue } from '#parse/json';

const PATH = '/.well-known/agent-card.json';
const OLD_PATH = '/.well-known/agent.json';

/** A2A specification, AgentCard: 0.3.0 section 5.5, 1.0 section 4.4.1. */
const COMMON_FIELDS = [
  'name',
  'description',
  'version',
  'capabilities',
  'defaultInputModes',
  'defaultOutputModes',
  'skills',
];
const SKILL_FIELDS = ['id', 'name', 'description', 'tags'];
/** `lists` has the members that each object of a list must have. */
const VERSION_0_3 = {
  fields: ['protocolVersion', 'url', ...COMMON_FIELDS],
  lists: { skills: SKILL_FIELDS },
};
const VERSION_1_0 = {
  fields: ['supportedInterfaces', ...COMMON_FIELDS],
  lists: {
    skills: SKILL_FIELDS,
    supportedInterfaces: ['url', 'protocolBinding', 'protocolVersion'],
  },
};
type CardVersion = typeof VERSION_0_3 | typeof VERSION_1_0;

const FIX = 'Serve /.well-known/agent-card.json with every field that A2A 0.3 or 1.0 requires.';

const OUTCOMES = {
  'old-path': warn(FIX),
  'rate-limited': rateLimited(),
  'over-limit': overLimit('agent card', '256 KiB, 50,000 values and a depth of 64'),
  absent: fail(FIX),
  'not-json': fail(FIX),
  partial: warn(FIX),
  'other-host': warn(
    'Give the address of this host as the url of the card (1.0: of each interface).',
  ),
  complete: pass('Keep the card complete.'),
};

export default defineCheck({
  id: 'S8',
  version: 1,
  says: {
    right: 'Agents find a complete A2A card of this service.',
    wrong: 'Agents do not find a complete A2A card of this service.',
    unjudged: 'It is not known whether agents find an A2A card of this service.',
  },
  needs: ['origin', 'agentCard', 'agentJson', 'soft404'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ origin, agentCard, agentJson, soft404 }, kit) {
    const reading = kit.document(PATH, agentCard, soft404);
    if (reading.state !== 'present') {
      const oldReading = kit.document(OLD_PATH, agentJson, soft404);
      const oldJson = oldReading.state === 'present' ? kit.json(oldReading.body) : null;
      if (oldJson?.ok && isObject(oldJson.value))
        return ['old-path', `${reading.evidence}; a card is only at ${OLD_PATH}`];
      if (reading.state === 'rate-limited' || reading.state === 'over-limit')
        return [reading.state, reading.evidence];
      const status = reading.state === 'absent' ? reading.status : null;
      return ['absent', reading.evidence, passageFix(PATH, status)];
    }
    const json = kit.json(reading.body);
    if (!json.ok && json.isOverLimit) return ['over-limit', `${PATH}: ${json.detail}, our limit`];
    if (!json.ok) return ['not-json', `${PATH}: ${json.detail}`];
    if (!isObject(json.value)) return ['not-json', `${PATH} is JSON, but not an object`];

    const card = json.value;
    const version = chooseVersion(card, kit);
    const missing = listMissing(card, version, kit);
    if (missing.length > 0) {
      return ['partial', `${PATH} lacks these, or has them in another type: ${listed(missing)}`];
    }
    const foreignUrl = listUrls(card, version, kit).find(
      (url) => findHost(url) !== origin.hostname,
    );
    if (foreignUrl !== undefined) {
      return ['other-host', `${PATH} names ${kit.quote(foreignUrl)}, which is on another host`];
    }
    const name = kit.quote(typeof card['name'] === 'string' ? card['name'] : '');
    return ['complete', `${PATH} describes ${name} with all required fields`];
  },
});

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A card with `supportedInterfaces` is compared with 1.0, and any other card with 0.3. A card with members
 * of both versions is compared with 0.3 if it is complete for 0.3 and not for 1.0.
 */
function chooseVersion(card: JsonObject, kit: Kit): CardVersion {
  if (card['supportedInterfaces'] === undefined) return VERSION_0_3;
  const isOnly03 =
    listMissing(card, VERSION_0_3, kit).length === 0 &&
    listMissing(card, VERSION_1_0, kit).length > 0;
  return isOnly03 ? VERSION_0_3 : VERSION_1_0;
}

function listMissing(card: JsonObject, { fields, lists }: CardVersion, kit: Kit) {
  return [
    ...fields.filter((name) => !hasRequiredType(name, card[name])),
    ...Object.entries(lists).flatMap(([list, members]) =>
      listGaps(list, kit.list(card[list]), members),
    ),
  ];
}

/** Required lists must not be empty, except skills and tags. */
function hasRequiredType(name: string, value: JsonValue | undefined): boolean {
  if (name === 'capabilities') return isObject(value);
  if (name === 'skills' || name === 'tags') return Array.isArray(value);
  if (/Modes$|Interfaces$/.test(name)) return Array.isArray(value) && value.length > 0;
  return typeof value === 'string' && value !== '';
}

function listGaps(
  list: string,
  entries: readonly JsonValue[],
  required: readonly string[],
): readonly string[] {
  return entries.flatMap((entry, index) =>
    required
      .filter((name) => !isObject(entry) || !hasRequiredType(name, entry[name]))
      .map((name) => `/${list}/${index}/${name}`),
  );
}

function listUrls(card: JsonObject, version: CardVersion, kit: Kit): readonly string[] {
  const interfaces = kit.list(card['supportedInterfaces']).map((entry) => kit.object(entry));
  const urls = version === VERSION_1_0 ? interfaces.map((each) => each['url']) : [card['url']];
  return urls.filter((url) => typeof url === 'string');
}

/** Removes the brackets of an IPv6 literal, because the `hostname` of an origin has none. */
function findHost(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : null;
}
