/** P7: all documents and challenges name the same recipient. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  listed,
  NAMED_SUMMARY,
  notDetermined,
  pass,
  type Seen,
  warn,
  worstOf,
} from '#check';
import type { Kit } from '#kit';
import type { Challenge, ChallengedResource, Offer } from '#parse/challenge';
import type { JsonValue } from '#parse/json';

const NEEDS = ['origin', 'manifest', 'manifestJson', 'soft404', 'resources'] as const;

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

const OUTCOMES = {
  malformed: fail('Set payTo to an address of the network that the offer names.'),
  'zero-address': fail('Set payTo to your own address: money sent to the zero address is lost.'),
  'asset-as-recipient': fail('Set payTo to your own address, not to that of the token.'),
  'bad-checksum': fail('Copy payTo from the wallet again: its EIP-55 checksum is wrong.'),
  'body-differs': fail('Write header and body from one object, with one recipient.'),
  'manifest-differs': fail('Build routes and manifest from one constant for payTo.'),
  'fresh-recipient': warn('Keep one recipient, or name in the documents who takes the payments.'),
  'several-recipients': warn('Use one address, or say in the documents who owns each address.'),
  'no-offer': notDetermined('Correct what P3 names first.'),
  named: notDetermined('Offer "exact" on Base or Solana too, whose recipients can be judged.'),
  unknown: notDetermined('Offer "exact" on Base or Solana too, whose recipients can be judged.'),
  consistent: pass('Keep one recipient for each address family.'),
};
type Flaw = Found<keyof typeof OUTCOMES>;
type Facts = Seen<(typeof NEEDS)[number]>;

export default defineCheck({
  id: 'P7',
  version: 1,
  says: {
    right: 'All documents and challenges name the same recipient.',
    wrong: 'The recipient is malformed, or documents and challenges name different ones.',
    unjudged: 'It is not known who would receive the money.',
  },
  needs: NEEDS,
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    return worstOf(
      OUTCOMES,
      seen.resources,
      kit,
      (item) => kit.inCopy(item.reading, inspect(item, seen, kit)),
      (count, challenged) => judgeRecipients(count, challenged, kit),
      [
        ['no-offer', kit.noOffer, 'without an offer that can be read'],
        ['named', kit.namedOnly, NAMED_SUMMARY],
        ['unknown', (challenge) => describeUnknown(challenge, kit), 'unknown to this catalog'],
      ],
    );
  },
});

function judgeRecipients(count: string, challenged: readonly ChallengedResource[], kit: Kit): Flaw {
  const recipients = new Set(
    challenged.flatMap(({ reading }) => listPayees(kit.judgedOffers(reading.challenge), kit)),
  );
  const families = new Set([...recipients].map((payee) => payee.split(' ')[0]));
  const list = listed([...recipients].map((payee) => kit.quote(payee)));
  if (recipients.size > families.size) {
    return ['several-recipients', `${count} pay ${recipients.size} recipients: ${list}`];
  }
  return ['consistent', `${count} pay ${list}`];
}

function inspect(item: ChallengedResource, seen: Facts, kit: Kit): readonly Flaw[] {
  const { reading, second: laterChallenge } = item;
  const { challenge } = reading;
  const flaws = kit
    .judgedOffers(challenge)
    .flatMap((offer) => inspectOffer(offer, challenge.version, kit));
  const payees = listPayees(challenge.offers, kit);
  const findOtherPayee = (offers: readonly Offer[]) =>
    listPayees(offers, kit).find((payee) => !payees.includes(payee));
  if (challenge.where === 'header' && reading.body.ok) {
    const body = kit.challengeIn(reading.body.value, 'body');
    // If header and body agree on what both offer, P4 reports an offer that only one of them has.
    const hasOtherTerms =
      body !== null && kit.challengeDifference(challenge, body)?.inTerms === true;
    const bodyPayee = hasOtherTerms ? findOtherPayee(kit.judgedOffers(body)) : undefined;
    if (bodyPayee !== undefined)
      flaws.push(['body-differs', `pays ${kit.quote(bodyPayee)} according to its body`]);
  }
  const laterPayee = laterChallenge ? findOtherPayee(kit.judgedOffers(laterChallenge)) : undefined;
  if (laterPayee !== undefined) {
    flaws.push(['fresh-recipient', `pays ${kit.quote(laterPayee)} when asked again`]);
  }
  const challenges = laterChallenge === null ? [challenge] : [challenge, laterChallenge];
  return [...flaws, ...challenges.flatMap((each) => compareManifest(each, item, seen, kit))];
}

/** Lists the recipients of a challenge to the resource that the manifest contradicts. */
function compareManifest(
  challenge: Challenge,
  item: ChallengedResource,
  seen: Facts,
  kit: Kit,
): readonly Flaw[] {
  const manifest = kit.manifest(seen);
  if (manifest.state !== 'found') return [];
  const variant = { ...item, reading: { ...item.reading, challenge } };
  const { recipients } = kit.manifestTerms(manifest.facts, seen.origin.url, variant);
  return recipients
    .filter(({ agrees }) => !agrees)
    .map(({ live, stated, pointer }): Flaw => {
      const declared = `${manifest.path}#${pointer} is ${kit.quote(stated)}`;
      return ['manifest-differs', `pays ${kit.quote(live)}, but ${declared}`];
    });
}

/** An unknown scheme may pay without a recipient. */
function describeUnknown(challenge: Challenge, kit: Kit): string | null {
  return listPayees(challenge.offers, kit).length > 0 ? null : kit.unknownOnly(challenge);
}

function inspectOffer(offer: Offer, version: Challenge['version'], kit: Kit): Flaw[] {
  const { payTo, asset, pointer, scheme } = offer;
  const text = `${pointer}/payTo is ${kit.showAddress(payTo)}`;
  const form = findForm(offer, kit);
  // The address form of an unknown scheme or network is not known, so no address of it is malformed. A known scheme
  // pays somebody on every network.
  const isExcused = kit.isUnknownPair(offer, version) && (payTo || kit.amountKind(scheme) === null);
  if (form === 'malformed') return isExcused ? [] : [['malformed', text]];
  if (form === 'zero') return [['zero-address', text]];
  if (equalsIgnoringCase(asset, payTo)) return [['asset-as-recipient', text]];
  return form === 'bad-checksum' ? [['bad-checksum', text]] : [];
}

function equalsIgnoringCase(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  return left.toLowerCase() === right.toLowerCase();
}

function findForm({ network, payTo }: Offer, kit: Kit) {
  if (typeof payTo !== 'string' || payTo === '') return 'malformed';
  const form = kit.address(kit.text(network), payTo);
  // An EVM address is known by its form on an unknown network too. Its checksum is that of every EVM network.
  const isEvm = form === 'unknown-network' && EVM_ADDRESS.test(payTo);
  return isEvm ? kit.address('eip155:1', payTo) : form;
}

/** Returns texts such as "eip155 0x…". One address is one recipient on all networks of its family. */
function listPayees(offers: readonly Offer[], kit: Kit): readonly string[] {
  const payees = offers.flatMap((offer) => {
    const { network, payTo } = offer;
    if (typeof network !== 'string' || typeof payTo !== 'string') return [];
    if (findForm(offer, kit) === 'malformed') return [];
    const [family = ''] = kit.caip2(network).split(':');
    return [`${family} ${family === 'eip155' ? payTo.toLowerCase() : payTo}`];
  });
  return [...new Set(payees)];
}
