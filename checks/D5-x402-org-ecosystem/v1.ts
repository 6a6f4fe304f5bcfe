/** D5: the protocol's own listing names this host. The check never fails, because the listing is closed. Rule: README.md. */
import { askedAt, defineCheck, pass, unanswered, warn } from '#check';

const FIX = 'Nothing to do: the listing closed to newcomers on 2026-05-14.';

const OUTCOMES = {
  'not-listed': warn(FIX),
  listed: pass('Keep the website of the listing on this host.'),
};

export default defineCheck({
  id: 'D5',
  version: 1,
  says: {
    right: 'The listing of x402.org names this host.',
    wrong: 'The listing of x402.org does not name this host.',
    unjudged: 'It is not known whether the listing of x402.org names this host.',
  },
  needs: ['listing', 'origin'],
  requires: [],
  outcomes: OUTCOMES,

  evaluate({ listing, origin }, kit) {
    if (listing.state !== 'seen') return unanswered(listing, 'the listing', FIX);
    const sourceNote = `${listing.source}, ${askedAt(listing)}`;
    const { listed, name, website } = listing.data;
    if (!listed) return ['not-listed', `no record for ${kit.quote(origin.host)}: ${sourceNote}`];
    return ['listed', `${kit.quote(name ?? '')} ${kit.quote(website ?? '')}: ${sourceNote}`];
  },
});
