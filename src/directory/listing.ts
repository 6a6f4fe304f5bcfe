import { NotVerified } from '../errors/errors.ts';
import type { Origin } from '../origin/origin.ts';
import { TOKEN_LIFETIME_MS } from '../store/contract/ownership.ts';
import type { Store } from '../store/contract/store.ts';
import type { Verification } from './verification.ts';

export type ListingWish = {
  readonly listed?: boolean | undefined;
  readonly suppressEnrichment?: boolean | undefined;
};

export type ListingAnswer = {
  readonly host: string;
  readonly listed: boolean;
  readonly enrichmentSuppressed: boolean;
};

/**
 * Sets what an owner asks for. Within an hour of the last confirm anything; after that, while the
 * token of that confirm is still served, only what hides: by then anybody could be calling.
 * Throws NotVerified, ConfirmLimit.
 */
export async function changeListing(
  { store, verification }: { readonly store: Store; readonly verification: Verification },
  origin: Origin,
  client: string,
  wish: ListingWish,
): Promise<ListingAnswer> {
  const { host } = origin;
  const confirm = await store.ownership.lastConfirm(host);
  if (confirm === null) throw new NotVerified(`Nobody has proved control of ${host}. ${HOW}`);

  if (store.now() - confirm.atMs >= TOKEN_LIFETIME_MS) {
    if (wish.listed === true || wish.suppressEnrichment === false) {
      throw new NotVerified(`Showing ${host} again takes a proof from the last hour. ${HOW}`);
    }
    if (!(await verification.stillServes(origin, client, confirm.tokenHash))) {
      throw new NotVerified(`Control of ${host} was proved over an hour ago. ${HOW}`);
    }
  }
  const settings = await store.listing.set(host, {
    listed: wish.listed,
    enrichmentSuppressed: wish.suppressEnrichment,
  });
  return { host, ...settings };
}

const HOW =
  'POST /v1/verify/start, serve the token at the path it names, POST /v1/verify/confirm, then repeat this request.';
