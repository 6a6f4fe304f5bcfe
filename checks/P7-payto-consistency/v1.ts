/** P7: the money goes where every surface says it goes. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  listed,
  pass,
  type Seen,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge, ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

const NEEDS = ['origin', 'manifest', 'manifestJson', 'soft404', 'resources'] as const;

const OUTCOMES = {
  malformed: fail('Set payTo to an address of the network that the offer names.'),
  'zero-address': fail('Set payTo to your own address: what is sent to zero is lost.'),
  'asset-as-recipient': fail('Set payTo to your own address, not to that of the token.'),
  'bad-checksum': fail('Copy payTo anew from the wallet: its EIP-55 checksum is wrong.'),
  'body-differs': fail('Write header and body from one object, with one recipient.'),
  'probes-differ': fail('Answer every challenge of a resource with the same recipient.'),
  'manifest-differs': fail('Take payTo of routes and manifest from one constant.'),
  'several-recipients': warn('Pay out to one address, or say whose each is.'),
  consistent: pass('Keep one recipient for each address family.'),
};
type Flaw = Found<keyof typeof OUTCOMES>;

export default defineCheck({
  id: 'P7',
  version: 1,
  says: {
    right: 'The money goes where every surface says it goes.',
    wrong: 'It is not certain where the money goes.',
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
    );
  },
});

function judgeRecipients(count: string, challenged: readonly ChallengedResource[], kit: Kit): Flaw {
  const recipients = new Set(challenged.flatMap(({ reading }) => payees(reading.challenge, kit)));
  const families = new Set([...recipients].map((one) => one.split(' ')[0]));
  const list = listed([...recipients].map((one) => kit.quote(one)));
  if (recipients.size > families.size) {
    return ['several-recipients', `${recipients.size} recipients on ${count}: ${list}`];
  }
  return ['consistent', `${count}: ${list}`];
}

function inspect(
  one: ChallengedResource,
  seen: Seen<(typeof NEEDS)[number]>,
  kit: Kit,
): readonly Flaw[] {
  const { reading, second } = one;
  const { challenge } = reading;
  const found = challenge.offers.flatMap((offer) => judge(offer, kit));
  const live = payees(challenge, kit);
  if (challenge.where === 'header' && reading.body.ok) {
    const body = kit.challengeIn(reading.body.value, 'body');
    const other = body ? payees(body, kit).find((payee) => !live.includes(payee)) : undefined;
    if (other !== undefined) found.push(['body-differs', `pays ${kit.quote(other)} by its body`]);
  }
  const then = second ? payees(second, kit).find((payee) => !live.includes(payee)) : undefined;
  if (then !== undefined) found.push(['probes-differ', `pays ${kit.quote(then)} when asked again`]);

  const manifest = kit.manifest(seen);
  if (manifest.state !== 'found') return found;
  const { recipients } = kit.manifestTerms(manifest.facts, seen.origin.url, one);
  for (const { agrees, live: paid, stated, pointer } of recipients) {
    if (agrees) continue;
    const where = `${manifest.path}#${pointer}`;
    found.push(['manifest-differs', `pays ${kit.quote(paid)}, ${where} is ${kit.quote(stated)}`]);
  }
  return found;
}

function judge({ network, payTo, asset, pointer }: Offer, kit: Kit): Flaw[] {
  const text = `${pointer}/payTo is ${kit.show(payTo)}`;
  if (typeof payTo !== 'string' || payTo === '') return [['malformed', text]];
  const on = typeof network === 'string' ? network : '';
  const form = kit.address(on, payTo);
  if (form === 'malformed') return [['malformed', text]];
  if (form === 'zero') return [['zero-address', text]];
  if (typeof asset === 'string' && asset.toLowerCase() === payTo.toLowerCase()) {
    return [['asset-as-recipient', text]];
  }
  return form === 'bad-checksum' ? [['bad-checksum', text]] : [];
}

/** "eip155 0x…": one address is one recipient on all networks of its family. */
function payees(challenge: Challenge, kit: Kit): readonly string[] {
  const all = challenge.offers.map(({ network, payTo }) => {
    const [family = ''] = kit.caip2(String(network)).split(':');
    const address = String(payTo);
    return `${family} ${family === 'eip155' ? address.toLowerCase() : address}`;
  });
  return [...new Set(all)];
}
