import type { PaidOffer } from '../../../config/revision.ts';
import { findFreshReport } from '../../../directory/fresh-report.ts';
import { toReportBody } from '../../../directory/report-body.ts';
import type { Origin } from '../../../guard/origin.ts';
import { NoFreshReport } from '../../../model/errors.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import { requestedOrigin } from '../requested-origin.ts';
import { reportExample } from './report-example.ts';
import type { SellingOptions } from './scan-route.ts';

const MIN_VALIDITY_MS = 20_000;

/** `GET /v1/report`, in revisions that sell it. */
export function reportRoute(options: SellingOptions, offer: PaidOffer): PaidRoute<Origin> {
  const { config, store } = options;
  const { siteUrl, revision } = config;
  return {
    name: 'report',
    method: 'GET',
    path: '/v1/report',
    description: 'The full report of the last scan of an origin, if it is under 24 hours old.',
    priceBaseUnits: offer.priceBaseUnits,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    minValidityMs: MIN_VALIDITY_MS,
    // The report is sold, so only its payer may see the answer.
    isPublic: false,
    discovery: {
      input: { url: 'https://api.example.com' },
      inputSchema: { properties: { url: { type: 'string' } }, required: ['url'] },
      output: reportExample('hit'),
    },

    parse({ query }) {
      const { url } = query as { url: string }; // validated by the route's schema
      return requestedOrigin(url, options);
    },
    canonical: (origin) => origin.host,

    async compute(origin) {
      const finished = await findFreshReport(store, origin.host);
      if (finished === null) throw new NoFreshReport(origin);
      const saysCharged = revision.reportSaysCharged;
      const body = toReportBody(finished, { cache: 'hit', siteUrl, saysCharged });
      return { headers: JSON_HEADERS, body: JSON.stringify(body), reportOf: finished.scanId };
    },
  };
}
