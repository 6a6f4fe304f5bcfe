import { setTimeout as delay } from 'node:timers/promises';
import type { Lease, LeaseStore } from '../leases.ts';
import type { InstanceId } from '../payment-tables.ts';
import {
  HEARTBEAT_INTERVAL_MS,
  type InstanceStore,
  MEMBERSHIP_SETTINGS,
  type MembershipSettings,
  SILENT_AFTER_MS,
} from '../store.ts';
import { StoreError } from '../store-error.ts';
import type { Instance, MongoContext } from './prepare.ts';

const DEFAULT_WAIT_MS = 25_000;
const CHECK_INTERVAL_MS = 250;
/** In effect, a lease of a signer never expires. It ends when its instance releases it or is gone. */
const SIGNER_LIFETIME_MS = 100 * 365 * 24 * 3_600_000;

type JoinRequest = Parameters<InstanceStore['join']>[0];

/**
 * Registers this process among the instances on the database. An instance that wants to join first writes its own row
 * and then reads the rows of others. Of two instances with different settings, at least one therefore sees the other.
 */
export class MongoInstances implements InstanceStore {
  readonly #context: MongoContext;
  readonly #leases: LeaseStore;
  readonly #onError: (message: string, error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #signer: Lease | null = null;
  #lastBeatMs = 0;

  constructor(
    context: MongoContext,
    leases: LeaseStore,
    onError: (message: string, error: unknown) => void,
  ) {
    this.#context = context;
    this.#leases = leases;
    this.#onError = onError;
  }

  async join(request: JoinRequest): Promise<void> {
    const deadlineMs =
      performance.now() + (request.waitMs ?? DEFAULT_WAIT_MS * this.#context.timeScale);
    try {
      await this.#agreeOnSettings(request.settings, deadlineMs);
      if (request.signer) await this.#takeSigner(request.signer, deadlineMs);
    } catch (error) {
      await this.leave();
      throw error;
    }
    this.#timer = setInterval(
      () => this.#keepAlive(request),
      HEARTBEAT_INTERVAL_MS * this.#context.timeScale,
    );
    this.#timer.unref();
  }

  isAlive(owner: InstanceId): Promise<boolean> {
    return isInstanceAlive(this.#context, owner);
  }

  async leave(): Promise<void> {
    clearInterval(this.#timer);
    const signer = this.#signer;
    this.#signer = null;
    if (signer) await this.#leases.release(signer);
    await this.#context.instances.remove({ boot: this.#context.owner.boot });
  }

  async #agreeOnSettings(settings: MembershipSettings, deadlineMs: number): Promise<void> {
    const { owner, instances } = this.#context;
    const findLiving = createLivingFinder();
    for (;;) {
      await this.#writeHeartbeat(settings, false);
      const conflicting = await this.#findConflicting(settings);
      const [first] = conflicting;
      if (first === undefined) return this.#writeHeartbeat(settings, true);
      const living = findLiving(conflicting);
      if (living || performance.now() > deadlineMs)
        throw toConflictError(living ?? first, settings);
      // If several instances want to join at once, only the instance with the smallest `boot` keeps its row.
      if (conflicting.some((other) => other.boot < owner.boot))
        await instances.remove({ boot: owner.boot });
      await delay(CHECK_INTERVAL_MS * (1 + Math.random()));
    }
  }

  /** Finds the living instances with other settings, also those that want to join. */
  async #findConflicting(settings: MembershipSettings): Promise<readonly Instance[]> {
    const whereLiving = { beatAtMs: { after: toSilentSinceMs(this.#context) } };
    const living = await this.#context.instances.all(whereLiving);
    return living.filter((instance) => findDifferingSetting(instance.settings, settings));
  }

  async #takeSigner(signer: string, deadlineMs: number): Promise<void> {
    const scope = ['signer', signer.toLowerCase()];
    const findLiving = createLivingFinder();
    for (;;) {
      const outcome = await this.#leases.takeSole(scope, SIGNER_LIFETIME_MS);
      if (outcome.taken) {
        this.#signer = outcome.lease;
        return;
      }
      const { owner } = outcome.holder;
      const holder = await this.#context.instances.get(owner.boot);
      if ((holder && findLiving([holder])) || performance.now() > deadlineMs) {
        const message = `host ${owner.host} on this store already sends settlements from ${signer}, and two would collide: stop it, or give this one a SETTLEMENT_KEY of its own`;
        throw new StoreError('incompatible', message);
      }
      await delay(CHECK_INTERVAL_MS);
    }
  }

  async #writeHeartbeat(settings: MembershipSettings, joined: boolean): Promise<void> {
    const { owner, instances, now } = this.#context;
    const { boot, host } = owner;
    const members = { host, beatAtMs: now(), joined, settings };
    if (!(await instances.insert({ boot, ...members }))) await instances.set({ boot }, members);
    this.#lastBeatMs = performance.now();
  }

  #keepAlive(request: JoinRequest): void {
    // After `SILENT_AFTER_MS` without a heartbeat other instances may have taken over the leases of this process.
    const wasSilent =
      performance.now() - this.#lastBeatMs >= SILENT_AFTER_MS * this.#context.timeScale;
    const beat = this.#writeHeartbeat(request.settings, true).then(() =>
      wasSilent ? this.#returnFromSilence(request) : undefined,
    );
    beat.catch((error: unknown) => this.#onError('a heartbeat was missed', error));
  }

  async #returnFromSilence({ settings, onEvicted }: JoinRequest): Promise<void> {
    const other = (await this.#findConflicting(settings)).find(({ joined }) => joined);
    const hasLostSigner = this.#signer !== null && !(await this.#leases.isHeld(this.#signer));
    if (!other && !hasLostSigner) return;
    const reason = other
      ? toConflictError(other, settings)
      : new StoreError('incompatible', 'another instance took over the signer; stop one of them');
    await this.leave();
    onEvicted?.(reason);
  }
}

function findDifferingSetting(a: MembershipSettings, b: MembershipSettings) {
  return MEMBERSHIP_SETTINGS.find((name) => a[name] !== b[name]);
}

function toConflictError(other: Instance, settings: MembershipSettings): StoreError {
  const name = findDifferingSetting(other.settings, settings) ?? 'revision'; // there is always one
  const message = `the instance on ${other.host} uses this store with ${name} "${other.settings[name]}", this one "${settings[name]}": give both the same, or give this one its own STORE_URL`;
  return new StoreError('incompatible', message);
}

export async function isInstanceAlive(
  context: MongoContext,
  { boot }: InstanceId,
): Promise<boolean> {
  if (boot === context.owner.boot) return true;
  const instance = await context.instances.get(boot);
  return instance !== null && instance.beatAtMs > toSilentSinceMs(context);
}

function toSilentSinceMs({ now, timeScale }: MongoContext): number {
  return now() - SILENT_AFTER_MS * timeScale;
}

/**
 * Returns a function that finds a joined instance with another heartbeat than when it was first passed. Only a living
 * instance writes a heartbeat while we wait. If none does, we wait until crashed ones count as gone.
 */
function createLivingFinder() {
  const firstBeats = new Map<string, number>();
  return (instances: readonly Instance[]): Instance | undefined => {
    for (const { boot, beatAtMs } of instances) {
      if (!firstBeats.has(boot)) firstBeats.set(boot, beatAtMs);
    }
    return instances.find(
      ({ boot, joined, beatAtMs }) => joined && beatAtMs !== firstBeats.get(boot),
    );
  };
}
