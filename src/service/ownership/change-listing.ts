import type { Origin } from '../../scanner/guard/origin.ts';
import { NotVerified, NotYourProof } from '../errors/errors.ts';
import type { ListingChange, ListingSettings, StoredListing } from '../store/listing.ts';
import { type Confirm, TOKEN_LIFETIME_MS } from '../store/ownership.ts';
import type { Store } from '../store/store.ts';
import type { Client } from '../turns/client-key.ts';
import { isKeyOfHash, type Verification } from './verification.ts';

type ListingRequest = {
  readonly listed?: boolean | undefined;
  readonly suppressEnrichment?: boolean | undefined;
  readonly listingKey?: string | undefined;
};

/**
 * Changes how a host is listed. For an hour after the host's last confirm, the client that started the token and
 * callers with its listing key may change anything. Any other caller may only hide the host, while the token is still
 * served. Throws NotVerified, NotYourProof, ConfirmLimit, ScannerFailed.
 */
export async function changeListing(
  options: { readonly store: Store; readonly verification: Verification },
  origin: Origin,
  client: Client,
  request: ListingRequest,
): Promise<ListingSettings & { readonly host: string }> {
  const { store, verification } = options;
  const { listingKey, listed, suppressEnrichment } = request;
  const { host } = origin;
  const change = { listed, enrichmentSuppressed: suppressEnrichment };
  const proof = await findProof(store, host, client, listingKey);
  const { confirm, hasKey, isOwner, proofText, toRefusal } = proof;
  // A caller without the key may not change settings that a caller with the key has made.
  if (hasKey) return { host, ...(await store.listing.set(host, change, confirm.tokenHash)) };
  if (!isOwner && makesVisible(change)) throw toRefusal(`${proofText}.`);
  const isAllowed = isOwner || (await verification.stillServes(origin, client, confirm.tokenHash));
  const settings = isAllowed
    ? await setWhileProved(store, host, confirm, change)
    : 'proof outdated';
  // Another proof was confirmed during this call, and the new proof decides who the owner is.
  if (settings === 'proof outdated' && isOwner)
    return changeListing(options, origin, client, request);
  if (settings === 'proof outdated') {
    throw toRefusal(`${proofText}, and the file is no longer served.`);
  }
  if (settings === 'set by key') {
    throw toRefusal(`This was set with the listingKey of ${host}: send it. Without it:`);
  }
  return { host, ...settings };
}

/** Returns the proof if the caller may change everything, as `changeListing` says. Throws NotVerified, NotYourProof. */
export async function requireOwner(
  store: Pick<Store, 'ownership' | 'now'>,
  host: string,
  client: Client,
  listingKey: string | undefined,
): Promise<Confirm> {
  const proof = await findProof(store, host, client, listingKey);
  if (proof.hasKey || proof.isOwner) return proof.confirm;
  throw proof.toRefusal(`${proof.proofText}.`);
}

/** Decides if the caller made the host's last proof or has its key. Throws without a proof, and for a wrong key. */
async function findProof(
  store: Pick<Store, 'ownership' | 'now'>,
  host: string,
  client: Client,
  listingKey: string | undefined,
) {
  const confirm = await store.ownership.findLastConfirm(host);
  if (confirm === null)
    throw new NotVerified(`Nobody has proved control of ${host}. ${HOW_TO_PROVE}`);

  const isRecent = store.now() - confirm.atMs < TOKEN_LIFETIME_MS;
  const Refusal = isRecent ? NotYourProof : NotVerified;
  const toRefusal = (reason: string) => new Refusal(`${reason} ${HOW_TO_PROVE}`);
  const hasKey = isRecent && isKeyOfHash(listingKey, confirm.keyHash);
  if (isRecent && listingKey !== undefined && !hasKey) {
    throw toRefusal(`listingKey did not come with the token that proved ${host}.`);
  }
  const proofText = `Control of ${host} was proved ${isRecent ? 'by another client' : 'over an hour ago'}`;
  const isOwner = isRecent && client.key === confirm.client;
  return { confirm, hasKey, isOwner, proofText, toRefusal };
}

/** Makes the change if nobody wrote after the check. Otherwise checks again, because the proof may have changed. */
async function setWhileProved(
  store: Store,
  host: string,
  confirm: Confirm,
  change: ListingChange,
): Promise<ListingSettings | 'proof outdated' | 'set by key'> {
  for (;;) {
    const stored = await store.listing.get(host);
    const lastConfirm = await store.ownership.findLastConfirm(host);
    if (lastConfirm?.tokenHash !== confirm.tokenHash) return 'proof outdated';
    const allowed = omitMembersSetByKey(stored, confirm, change);
    if (allowed === null) return 'set by key';
    const settings = await store.listing.setIf(host, stored.version, allowed);
    if (settings !== null) return settings;
  }
}

const HOW_TO_PROVE =
  'POST /v1/verify/start, serve the token at the path it names, POST /v1/verify/confirm, then repeat this request from the same address or with the listingKey that came with the token.';

function makesVisible({ listed, enrichmentSuppressed }: ListingChange): boolean {
  return listed === true || enrichmentSuppressed === false;
}

/** Removes members that were set with the key of this proof. Returns null if the change would alter such a member. */
function omitMembersSetByKey(
  { settings, tokenHashes }: StoredListing,
  { tokenHash }: Confirm,
  change: ListingChange,
): ListingChange | null {
  const isSetByKey = (name: keyof ListingSettings) =>
    tokenHashes[name] === tokenHash && change[name] !== undefined;
  const names = ['listed', 'enrichmentSuppressed'] as const;
  if (names.some((name) => isSetByKey(name) && change[name] !== settings[name])) return null;
  const { listed, enrichmentSuppressed } = change;
  return {
    listed: isSetByKey('listed') ? undefined : listed,
    enrichmentSuppressed: isSetByKey('enrichmentSuppressed') ? undefined : enrichmentSuppressed,
  };
}
