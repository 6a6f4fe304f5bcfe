import type { Owner } from './owner.ts';

export const HEARTBEAT_INTERVAL_MS = 5_000;
/** Others may take over what an owner holds after this long without a heartbeat (database time). */
export const SILENT_AFTER_MS = 20_000;

/**
 * Settings that all instances on one store must share, compared as strings. `signingKey` is the id of the key that
 * `SIGNING_KEY` holds, or "kept in the store".
 */
export const MEMBERSHIP_SETTINGS = [
  'revision',
  'network',
  'asset',
  'payTo',
  'baseUrl',
  'catalog',
  'signingKey',
] as const;

export type MembershipSettings = Readonly<Record<(typeof MEMBERSHIP_SETTINGS)[number], string>>;

/** The processes that live on this store. */
export type InstanceStore = {
  /**
   * Joins and keeps a heartbeat until `leave` or `close`. Rejects `incompatible`, naming the setting,
   * while instances with other settings live on the store, or while another living instance has the same
   * `signer` (the address that sends settlements). A predecessor that crashed counts as living until it is
   * silent, so a conflict is waited out for up to `waitMs` (default 25 s).
   */
  join(request: {
    readonly settings: MembershipSettings;
    readonly signer?: string | undefined;
    readonly waitMs?: number | undefined;
    /** Called when a later heartbeat finds that instances with other settings have taken the store. */
    readonly onEvicted?: ((reason: Error) => void) | undefined;
  }): Promise<void>;

  /** True while the owner of a row lives. Embedded store: only this very process does. */
  isAlive(owner: Owner): Promise<boolean>;

  /** Ends the heartbeat at once, so that others need not wait for this instance's silence. */
  leave(): Promise<void>;
};
