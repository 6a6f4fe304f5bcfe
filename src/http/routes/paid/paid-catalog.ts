import type { PaidOffer, Revision } from '../../../config/revision.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import { changesRoute } from './changes-route.ts';
import { exportRoute } from './export-route.ts';
import { reportRoute } from './report-route.ts';
import { type SellingOptions, scanRoute } from './scan-route.ts';

const MAKERS = {
  scan: scanRoute,
  report: reportRoute,
  export: exportRoute,
  changes: changesRoute,
} as const satisfies Partial<
  Record<keyof Revision['offers'], (options: SellingOptions, offer: PaidOffer) => PaidRoute>
>;

export type PaidOperation = keyof typeof MAKERS;

export type SoldRoute = {
  readonly operation: PaidOperation;
  readonly offer: PaidOffer;
  readonly route: PaidRoute;
};

/** The paid operations of the revision with their routes, prices and schemas. */
export function soldRoutes(options: SellingOptions): SoldRoute[] {
  const operations = Object.keys(MAKERS) as PaidOperation[]; // the keys that stand above
  return operations.flatMap((operation) => {
    const offer = options.config.revision.offers[operation];
    if (offer?.kind !== 'paid') return [];
    return [{ operation, offer, route: MAKERS[operation](options, offer) }];
  });
}
