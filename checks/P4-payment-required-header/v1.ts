/** P4: PAYMENT-REQUIRED carries the challenge, and the body agrees with it. Rule: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  pass,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { JsonValue } from '../../src/parse/json/json.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge, ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

/** Node refuses an answer with 16 KiB of headers in all; a buyer echoes this one, and more. */
const MAX_HEADER_CHARS = 8_192;

/** Offers on the same terms that are told apart: nobody sends more, and more would cost the square. */
const MAX_ALIKE = 8;

const OUTCOMES = {
  'v1-only': fail('Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.'),
  missing: fail('Send PAYMENT-REQUIRED with each 402: base64 of the JSON that the body has now.'),
  repeated: fail('Send PAYMENT-REQUIRED once: mount the payment middleware once.'),
  'raw-json': fail('Encode the JSON of PAYMENT-REQUIRED as standard base64.'),
  base64url: fail('Encode PAYMENT-REQUIRED as standard base64 ("+", "/", padding), not base64url.'),
  undecodable: fail('Encode PAYMENT-REQUIRED as padded standard base64 of UTF-8 JSON.'),
  'not-a-challenge': fail(
    'Put the whole challenge in PAYMENT-REQUIRED, x402Version and accepts included.',
  ),
  'terms-differ': fail('Write header and body from one object, so that both ask for the same.'),
  differs: warn('Write header and body from one object, or send {} as the body.'),
  'too-long': warn('Shorten the extensions of the challenge, above all the schema of bazaar.'),
  cacheable: warn(
    'Send Cache-Control: no-store with each 402: middlewares of Go, Rust and Java leave it to you.',
  ),
  sound: pass('Keep writing it from one object.'),
};
type Flaw = Found<keyof typeof OUTCOMES>;

export default defineCheck({
  id: 'P4',
  version: 1,
  says: {
    right: 'Each 402 carries its challenge in the PAYMENT-REQUIRED header.',
    wrong: 'Clients cannot rely on the PAYMENT-REQUIRED header.',
  },
  needs: ['resources'],
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    return worstOf(
      OUTCOMES,
      resources,
      kit,
      (one) => {
        const flaw = inspect(one, kit);
        return flaw === null ? [] : [flaw];
      },
      (count) => ['sound', `PAYMENT-REQUIRED of ${count}`],
    );
  },
});

function inspect({ answer, reading }: ChallengedResource, kit: Kit): Flaw | null {
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
function contradict(header: Challenge, body: Challenge, kit: Kit): Flaw | null {
  const offers = new Map<string, Offer[]>();
  for (const offer of header.offers) {
    const terms = termsOf(offer, kit);
    const alike = offers.get(terms) ?? [];
    if (alike.length < MAX_ALIKE) offers.set(terms, [...alike, offer]);
  }
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
      .map((offer) => closest(offers.get(termsOf(offer, kit)) ?? [], offer))
      .find((one) => one !== null) ??
    null;
  return pointer === null ? null : ['differs', `${pointer} is another in the body`];
}

/** Offers on the same terms may differ in `extra`: one that is equal is enough. */
function closest(known: readonly Offer[], offer: Offer): string | null {
  const differences = known.map(({ entry }) => difference(entry, offer.entry, offer.pointer));
  return differences.includes(null) ? null : (differences[0] ?? null);
}

function termsOf({ scheme, network, asset, payTo, amount }: Offer, kit: Kit): string {
  const on = typeof network === 'string' ? kit.caip2(network) : kit.show(network);
  const [how, what, whom] = [scheme, asset, payTo].map((value) => kit.show(value));
  const terms = `${kit.show(amount)} of ${what} to ${whom} on ${on} by ${how}`;
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
