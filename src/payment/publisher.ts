import { type LedgerWriter, StepLost } from './ledger.ts';
import { routeNameOf } from './paid-route.ts';

/** Makes what a paid scan found public; routes by name, those that publish something. */
export type PublishByRoute = ReadonlyMap<string, (scanId: string) => Promise<void>>;

/**
 * The step after `settled`: publishes, then says so. May be run again after a crash, and by several
 * hosts at once. Rejects where publishing failed, and then is to be run again.
 */
export async function publishSettled(routes: PublishByRoute, pen: LedgerWriter): Promise<void> {
  const { request, scanId } = pen.facts;
  const publish = routes.get(routeNameOf(request));
  if (publish !== undefined && scanId !== undefined) await publish(scanId);
  try {
    await pen.write('published', {});
  } catch (error) {
    // Another host has published the same, which is as good.
    if (!(error instanceof StepLost)) throw error;
  }
}
