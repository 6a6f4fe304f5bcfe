/** P4: PAYMENT-REQUIRED carries the challenge, and the body agrees with it. Rule: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';
import type { JsonValue } from '../../src/parse/json/json.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge, ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

/** Node refuses an answer with 16 KiB of headers in all; a buyer echoes this one, and more. */
const MAX_HEADER_CHARS = 8_192;

/** Both in order of precedence. */
const FAILS = [
  'v1-only',
  'missing',
  'repeated',
  'raw-json',
  'base64url',
  'undecodable',
  'not-a-challenge',
  'terms-differ',
] as const;
const WARNS = ['differs', 'too-long', 'cacheable'] as const;
const ORDER = [...FAILS, ...WARNS] as const;
type Kind = (typeof ORDER)[number];
type Finding = readonly [kind: Kind, detail: string];

const FIXES: Readonly<Record<Kind, string>> = {
  'v1-only': 'Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.',
  missing: 'Send PAYMENT-REQUIRED with each 402: base64 of the JSON that the body has now.',
  repeated: 'Send PAYMENT-REQUIRED once: mount the payment middleware once.',
  'raw-json': 'Encode the JSON of PAYMENT-REQUIRED as standard base64.',
  base64url: 'Encode PAYMENT-REQUIRED as standard base64 ("+", "/", padding), not base64url.',
  undecodable: 'Encode PAYMENT-REQUIRED as padded standard base64 of UTF-8 JSON.',
  'not-a-challenge':
    'Put the whole challenge in PAYMENT-REQUIRED, x402Version and accepts included.',
  'terms-differ': 'Write header and body from one object, so that both ask for the same.',
  differs: 'Write header and body from one object, or send {} as the body.',
  'too-long': 'Shorten the extensions of the challenge, above all the schema of bazaar.',
  cacheable: 'Send Cache-Control: no-store with each 402.',
};

const P2_FIX = 'Correct what P2 names first.';

export default defineCheck({
  id: 'P4',
  version: 1,
  needs: ['resources'],
  requires: ['P1', 'P2'],
  outcomes: [...ORDER, 'sound'],

  evaluate({ resources }, kit) {
    const challenged = kit.challenged(resources);
    const count = `${challenged.length} of ${resources.probed.length} resources`;
    if (challenged.length === 0) {
      return notDetermined('unseen', `${count} challenged by what we may send`, P2_FIX);
    }
    const found = challenged.flatMap((one) => {
      const finding = inspect(one, kit);
      if (finding === null) return [];
      const [kind, detail] = finding;
      return [{ kind, text: `${kit.request(one.probe.method, one.resource.path)}: ${detail}` }];
    });
    const kind = ORDER.find((one) => found.some((finding) => finding.kind === one));
    if (kind === undefined) {
      return pass('sound', `PAYMENT-REQUIRED of ${count}`, 'Keep writing it from one object.');
    }
    const same = found.filter((finding) => finding.kind === kind).map(({ text }) => text);
    const evidence = `${same.length} of ${challenged.length}: ${same.slice(0, 3).join('; ')}`;
    const verdict = FAILS.some((one) => one === kind) ? fail : warn;
    return verdict(kind, evidence, FIXES[kind]);
  },
});

function inspect({ answer, reading }: ChallengedResource, kit: Kit): Finding | null {
  const { header, body, challenge } = reading;
  if (header.state === 'absent') {
    if (challenge.version === 1) return ['v1-only', 'a version 1 body, no PAYMENT-REQUIRED'];
    return ['missing', 'a challenge in the body, no PAYMENT-REQUIRED'];
  }
  if (header.state !== 'ok') {
    const detail = `PAYMENT-REQUIRED ${kit.quote(header.raw, 40)}: ${header.detail}`;
    const { state } = header;
    const isOwn = state === 'repeated' || state === 'raw-json' || state === 'base64url';
    return [isOwn ? state : 'undecodable', detail];
  }
  if (challenge.where === 'body') {
    return ['not-a-challenge', `PAYMENT-REQUIRED holds ${kit.show(header.value)}`];
  }
  if (challenge.version === 1) return ['v1-only', 'x402Version 1 in PAYMENT-REQUIRED'];

  const other = body.ok ? kit.challengeIn(body.value, 'body') : null;
  const contradiction = other === null ? null : contradict(challenge, other, kit);
  if (contradiction !== null) return contradiction;
  if (header.raw.length > MAX_HEADER_CHARS) {
    return ['too-long', `PAYMENT-REQUIRED has ${header.raw.length} characters`];
  }
  const directives = kit.headers(answer, 'cache-control').join(',');
  if (!/(?:^|[\s,])(?:no-store|private)(?:$|[\s,=])/i.test(directives)) {
    return ['cacheable', `402 with Cache-Control ${kit.quote(directives)}`];
  }
  return null;
}

/** Entries may stand in any order; a v1 body is for old clients and may have fewer of them. */
function contradict(header: Challenge, body: Challenge, kit: Kit): Finding | null {
  const offers = new Map(header.offers.map((offer) => [termsOf(offer, kit), offer]));
  const foreign = body.offers.find((offer) => !offers.has(termsOf(offer, kit)));
  if (foreign !== undefined) {
    return ['terms-differ', `only the body asks for ${termsOf(foreign, kit)} (${foreign.pointer})`];
  }
  if (body.version === 1) return null;
  if (body.offers.length !== header.offers.length) {
    return ['differs', `${header.offers.length} offers, ${body.offers.length} in the body`];
  }
  const { error: _, accepts: __, ...top } = body.value;
  const pointer =
    difference(header.value, top, '') ??
    body.offers
      .map((offer) =>
        difference(offers.get(termsOf(offer, kit))?.entry, offer.entry, offer.pointer),
      )
      .find((one) => one !== null) ??
    null;
  return pointer === null ? null : ['differs', `${pointer} is another in the body`];
}

function termsOf({ network, asset, payTo, amount }: Offer, kit: Kit): string {
  const on = typeof network === 'string' ? kit.caip2(network) : kit.show(network);
  const [what, whom] = [asset, payTo].map((value) => kit.show(value));
  const terms = `${kit.show(amount)} of ${what} to ${whom} on ${on}`;
  return on.startsWith('eip155:') ? terms.toLowerCase() : terms;
}

/** Pointer of the first member that both have and that is not equal; what one lacks is no difference. */
function difference(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  pointer: string,
): string | null {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return isSame(one, other) ? null : pointer;
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return pointer;
  for (const [member, value] of Object.entries(one)) {
    if (!Object.hasOwn(other, member)) continue;
    const inner: JsonValue | undefined = Reflect.get(other, member);
    const found = difference(value, inner, `${pointer}/${member}`);
    if (found !== null) return found;
  }
  return null;
}

/** An EVM address is the same in any case. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string' || !one.startsWith('0x')) {
    return one === other;
  }
  return one.toLowerCase() === other.toLowerCase();
}
