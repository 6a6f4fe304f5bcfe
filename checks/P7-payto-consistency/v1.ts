/** P7: all documents and challenges name the same recipient. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  listed,
  notDetermined,
  pass,
  type Seen,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { JsonValue } from '../../src/parse/json/json.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

const NEEDS = ['origin', 'manifest', 'manifestJson', 'soft404', 'resources'] as const;

const OUTCOMES = {
  malformed: fail('Set payTo to an address of the network that the offer names.'),
  'zero-address': fail('Set payTo to your own address: money sent to the zero address is lost.'),
  'asset-as-recipient': fail('Set payTo to your own address, not to that of the token.'),
  'bad-checksum': fail('Copy payTo from the wallet again: its EIP-55 checksum is wrong.'),
  'body-differs': fail('Write header and body from one object, with one recipient.'),
  'manifest-differs': fail('Take payTo of routes and manifest from one constant.'),
  'fresh-recipient': warn('Keep one recipient, or name in the documents who takes the payments.'),
  'several-recipients': warn('Use one address, or say in the documents whose each address is.'),
  named: notDetermined('Offer "exact" on Base or Solana too, whose recipients can be judged.'),
  consistent: pass('Keep one recipient for each address family.'),
};
type Flaw = Found<keyof typeof OUTCOMES>;

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
      (one) => inspect(one, seen, kit),
      (count, challenged) => judgeRecipients(count, challenged, kit),
      'named',
    );
  },
});

function judgeRecipients(count: string, challenged: readonly ChallengedResource[], kit: Kit): Flaw {
  const recipients = new Set(
    challenged.flatMap(({ reading }) => payees(kit.judgedOffers(reading.challenge), kit)),
  );
  const families = new Set([...recipients].map((one) => one.split(' ')[0]));
  const list = listed([...recipients].map((one) => kit.quote(one)));
  if (recipients.size > families.size) {
    return ['several-recipients', `${count} pay ${recipients.size} recipients: ${list}`];
  }
  return ['consistent', `${count} pay ${list}`];
}

function inspect(
  one: ChallengedResource,
  seen: Seen<(typeof NEEDS)[number]>,
  kit: Kit,
): readonly Flaw[] {
  const { reading, second } = one;
  const { challenge } = reading;
  const flaws = kit.judgedOffers(challenge).flatMap((offer) => inspectOffer(offer, kit));
  const live = payees(challenge.offers, kit);
  if (challenge.where === 'header' && reading.body.ok) {
    const body = kit.challengeIn(reading.body.value, 'body');
    // If one side has one offer more and the shared ones agree, that is P4's finding.
    const isOther = body !== null && kit.challengeDifference(challenge, body)?.inTerms === true;
    const other = isOther
      ? payees(kit.judgedOffers(body), kit).find((payee) => !live.includes(payee))
      : undefined;
    if (other !== undefined)
      flaws.push(['body-differs', `pays ${kit.quote(other)} according to its body`]);
  }
  const then = second
    ? payees(kit.judgedOffers(second), kit).find((payee) => !live.includes(payee))
    : undefined;
  if (then !== undefined) {
    flaws.push(['fresh-recipient', `pays ${kit.quote(then)} when asked again`]);
  }

  const manifest = kit.manifest(seen);
  if (manifest.state !== 'found') return flaws;
  for (const each of second ? [challenge, second] : [challenge]) {
    const variant = { ...one, reading: { ...reading, challenge: each } };
    const { recipients } = kit.manifestTerms(manifest.facts, seen.origin.url, variant);
    for (const { agrees, live: paid, stated, pointer } of recipients) {
      const where = `${manifest.path}#${pointer} is ${kit.quote(stated)}`;
      if (!agrees) flaws.push(['manifest-differs', `pays ${kit.quote(paid)}, ${where}`]);
    }
  }
  // Two probes mostly say the same.
  return [...new Map(flaws.map((flaw) => [flaw[1], flaw])).values()];
}

function inspectOffer(offer: Offer, kit: Kit): Flaw[] {
  const { payTo, asset, pointer } = offer;
  const text = `${pointer}/payTo is ${kit.showAddress(payTo)}`;
  const form = formOf(offer, kit);
  if (form === 'malformed') return [['malformed', text]];
  if (form === 'zero') return [['zero-address', text]];
  if (sameText(asset, payTo)) return [['asset-as-recipient', text]];
  return form === 'bad-checksum' ? [['bad-checksum', text]] : [];
}

function sameText(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  return one.toLowerCase() === other.toLowerCase();
}

function formOf({ network, payTo }: Offer, kit: Kit) {
  if (typeof payTo !== 'string' || payTo === '') return 'malformed';
  return kit.address(typeof network === 'string' ? network : '', payTo);
}

/** "eip155 0x…": one address is one recipient on all networks of its family. */
function payees(offers: readonly Offer[], kit: Kit): readonly string[] {
  const all = offers.flatMap((offer) => {
    const { network, payTo } = offer;
    if (typeof network !== 'string' || typeof payTo !== 'string') return [];
    if (formOf(offer, kit) === 'malformed') return [];
    const [family = ''] = kit.caip2(network).split(':');
    return [`${family} ${family === 'eip155' ? payTo.toLowerCase() : payTo}`];
  });
  return [...new Set(all)];
}
