/** D5: the protocol's own listing names this host. Never fails: it takes nobody in any more. README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import { notDetermined, pass, warn } from '../../src/model/verdict.ts';

const FIX = 'Nothing to do: the listing closed to newcomers on 2026-05-14.';

export default defineCheck({
  id: 'D5',
  version: 1,
  needs: ['listing', 'origin'],
  requires: [],
  outcomes: ['not-listed', 'listed'],

  evaluate({ listing, origin }, kit) {
    if (listing.state === 'off') {
      return notDetermined(
        'offline',
        `the listing was not asked: ${listing.why} (0 requests)`,
        FIX,
      );
    }
    if (listing.state === 'failed') {
      return notDetermined('unseen', `${listing.source}: ${listing.detail} (0 good answers)`, FIX);
    }
    const told = `${listing.source}, as of ${listing.asOf} (${Math.floor(listing.ageSec / 3600)} h old)`;
    const { listed, name, website } = listing.data;
    if (!listed) return warn('not-listed', `no record for ${kit.quote(origin.host)}: ${told}`, FIX);
    const record = `${kit.quote(name ?? '')} ${kit.quote(website ?? '')}`;
    return pass('listed', `${record}: ${told}`, 'Keep the website of the record on this host.');
  },
});
