/** P7: the money goes where every surface says it goes. Rule and sources: README.md. */
import { defineCheck, type Seen } from '../../src/engine/define-check.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge, ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

const NEEDS = ['origin', 'manifest', 'manifestJson', 'soft404', 'resources'] as const;

/** In order of precedence. */
const FAILS = [
  'malformed',
  'zero-address',
  'asset-as-recipient',
  'bad-checksum',
  'body-differs',
  'probes-differ',
  'manifest-differs',
] as const;
type Kind = (typeof FAILS)[number];
type Finding = readonly [kind: Kind, text: string];

const FIXES: Readonly<Record<Kind, string>> = {
  malformed: 'Set payTo to an address of the network that the offer names.',
  'zero-address': 'Set payTo to your own address: what is sent to zero is lost.',
  'asset-as-recipient': 'Set payTo to your own address, not to that of the token.',
  'bad-checksum': 'Copy payTo anew from the wallet: its EIP-55 checksum is wrong.',
  'body-differs': 'Write header and body from one object, with one recipient.',
  'probes-differ': 'Answer every challenge of a resource with the same recipient.',
  'manifest-differs': 'Take payTo of routes and manifest from one constant.',
};

const P2_FIX = 'Correct what P2 names first.';

export default defineCheck({
  id: 'P7',
  version: 1,
  needs: NEEDS,
  requires: ['P1', 'P2'],
  outcomes: [...FAILS, 'several-recipients', 'consistent'],

  evaluate(seen, kit) {
    const challenged = kit.challenged(seen.resources);
    const count = `${challenged.length} of ${seen.resources.probed.length} resources`;
    if (challenged.length === 0) {
      return notDetermined('unseen', `${count} challenged by what we may send`, P2_FIX);
    }
    const found = challenged.flatMap((one) => {
      const request = kit.request(one.probe.method, one.resource.path);
      return inspect(one, seen, kit).map(([kind, text]) => ({ kind, text: `${request} ${text}` }));
    });
    const kind = FAILS.find((one) => found.some((finding) => finding.kind === one));
    if (kind !== undefined) {
      const same = found.filter((finding) => finding.kind === kind).map(({ text }) => text);
      return fail(kind, same.slice(0, 3).join('; '), FIXES[kind]);
    }
    const recipients = new Set(challenged.flatMap(({ reading }) => payees(reading.challenge, kit)));
    const families = new Set([...recipients].map((one) => one.split(' ')[0]));
    const list = [...recipients]
      .slice(0, 5)
      .map((one) => kit.quote(one))
      .join(', ');
    if (recipients.size > families.size) {
      const evidence = `${recipients.size} recipients on ${count}: ${list}`;
      return warn('several-recipients', evidence, 'Pay out to one address, or say whose each is.');
    }
    return pass('consistent', `${count}: ${list}`, 'Keep one recipient for each address family.');
  },
});

function inspect(
  one: ChallengedResource,
  seen: Seen<(typeof NEEDS)[number]>,
  kit: Kit,
): readonly Finding[] {
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

function judge({ network, payTo, asset, pointer }: Offer, kit: Kit): Finding[] {
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
