import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../errors.ts';
import type { InstanceId } from '../payment-tables.ts';
import type { Slot, SlotStore } from '../slots.ts';
import {
  HEARTBEAT_INTERVAL_MS,
  type InstanceStore,
  MEMBERSHIP_SETTINGS,
  type MembershipSettings,
  SILENT_AFTER_MS,
} from '../store.ts';
import type { Instance, MongoContext } from './prepare.ts';

const DEFAULT_WAIT_MS = 25_000;
const LOOK_AGAIN_AFTER_MS = 250;
/** A signer's row has no expiry of its own: only the silence of its instance frees it. */
const SIGNER_LIFETIME_MS = 100 * 365 * 24 * 3_600_000;

type JoinRequest = Parameters<InstanceStore['join']>[0];

/**
 * Membership of this process. An instance that wants to join writes its row first and reads the
 * others' then, so of two that must not live together at least one sees the other.
 */
export class MongoInstances implements InstanceStore {
  readonly #context: MongoContext;
  readonly #slots: SlotStore;
  readonly #onError: (message: string, error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #signer: Slot | null = null;
  #lastBeatMs = 0;

  constructor(
    context: MongoContext,
    slots: SlotStore,
    onError: (message: string, error: unknown) => void,
  ) {
    this.#context = context;
    this.#slots = slots;
    this.#onError = onError;
  }

  async join(request: JoinRequest): Promise<void> {
    const deadlineMs =
      performance.now() + (request.waitMs ?? DEFAULT_WAIT_MS * this.#context.timeScale);
    try {
      await this.#agree(request.settings, deadlineMs);
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
    if (signer) await this.#slots.release(signer);
    await this.#context.instances.remove({ boot: this.#context.owner.boot });
  }

  async #agree(settings: MembershipSettings, deadlineMs: number): Promise<void> {
    const { owner, instances } = this.#context;
    const conflicting = new ConflictingInstances();
    for (;;) {
      await this.#beat(settings, false);
      const others = (await liveInstances(this.#context)).filter(
        (host) =>
          host.boot !== owner.boot && differingSetting(host.settings, settings) !== undefined,
      );
      if (others.length === 0) return this.#beat(settings, true);
      const living = conflicting.look(others);
      if (living || performance.now() > deadlineMs) throw mustAgree(living ?? others[0], settings);
      // Several instances may ask at once: the one with the smallest id goes on, the others step back.
      if (others.some((other) => other.boot < owner.boot))
        await instances.remove({ boot: owner.boot });
      await delay(LOOK_AGAIN_AFTER_MS * (1 + Math.random()));
    }
  }

  async #takeSigner(signer: string, deadlineMs: number): Promise<void> {
    const scope = ['signer', signer.toLowerCase()];
    const conflicting = new ConflictingInstances();
    for (;;) {
      const outcome = await this.#slots.lease(scope, SIGNER_LIFETIME_MS);
      if (outcome.taken) {
        this.#signer = outcome.slot;
        return;
      }
      const { owner } = outcome.holder;
      const holder = await this.#context.instances.get(owner.boot);
      if ((holder && conflicting.look([holder])) || performance.now() > deadlineMs) {
        const message = `host ${owner.host} on this store already sends settlements from ${signer}, and two would collide: stop it, or give this one a SETTLEMENT_KEY of its own`;
        throw new StoreError('incompatible', message);
      }
      await delay(LOOK_AGAIN_AFTER_MS);
    }
  }

  async #beat(settings: MembershipSettings, joined: boolean): Promise<void> {
    const { owner, instances, now } = this.#context;
    const { boot, host } = owner;
    const members = { host, beatAtMs: now(), joined, settings };
    if (!(await instances.insert({ boot, ...members }))) await instances.set({ boot }, members);
    this.#lastBeatMs = performance.now();
  }

  #keepAlive(request: JoinRequest): void {
    // After SILENT_AFTER_MS other instances may have taken over what this process holds.
    const wasSilent =
      performance.now() - this.#lastBeatMs >= SILENT_AFTER_MS * this.#context.timeScale;
    const beat = this.#beat(request.settings, true).then(() =>
      wasSilent ? this.#returnFromSilence(request) : undefined,
    );
    beat.catch((error: unknown) => this.#onError('a heartbeat was missed', error));
  }

  async #returnFromSilence({ settings, onEvicted }: JoinRequest): Promise<void> {
    const other = (await liveInstances(this.#context)).find(
      (instance) => instance.joined && differingSetting(instance.settings, settings) !== undefined,
    );
    const signerGone = this.#signer !== null && !(await this.#slots.isHeld(this.#signer));
    if (!other && !signerGone) return;
    const reason = other
      ? mustAgree(other, settings)
      : new StoreError('incompatible', 'another instance took over the signer; stop one of them');
    await this.leave();
    onEvicted?.(reason);
  }
}

/** Finds the first setting in which two instances differ. */
function differingSetting(a: MembershipSettings, b: MembershipSettings) {
  return MEMBERSHIP_SETTINGS.find((name) => a[name] !== b[name]);
}

function mustAgree(
  other: { readonly host: string; readonly settings: MembershipSettings } | undefined,
  settings: MembershipSettings,
): StoreError {
  const name = other && differingSetting(other.settings, settings);
  if (!other || !name) return new StoreError('incompatible', 'another instance uses this store');
  const message = `the instance on ${other.host} uses this store with ${name} "${other.settings[name]}", this one "${settings[name]}": give both the same, or give this one its own STORE_URL`;
  return new StoreError('incompatible', message);
}

export async function isInstanceAlive(
  context: MongoContext,
  { boot }: InstanceId,
): Promise<boolean> {
  if (boot === context.owner.boot) return true;
  const instance = await context.instances.get(boot);
  return instance !== null && instance.beatAtMs > silentSinceMs(context);
}

function liveInstances(context: MongoContext): Promise<readonly Instance[]> {
  return context.instances.all({ beatAtMs: { after: silentSinceMs(context) } });
}

function silentSinceMs({ now, timeScale }: MongoContext): number {
  return now() - SILENT_AFTER_MS * timeScale;
}

/**
 * Distinguishes living instances from recently crashed ones: a living instance writes another heartbeat
 * during the wait, so a join is refused without waiting until the crashed ones count as silent.
 */
class ConflictingInstances {
  readonly #firstBeats = new Map<string, number>();

  /** A joined instance that has beaten since it was first seen, or null. */
  look(instances: readonly Instance[]): Instance | null {
    for (const { boot, beatAtMs } of instances) {
      if (!this.#firstBeats.has(boot)) this.#firstBeats.set(boot, beatAtMs);
    }
    const living = instances.find(
      ({ boot, joined, beatAtMs }) => joined && beatAtMs > (this.#firstBeats.get(boot) ?? beatAtMs),
    );
    return living ?? null;
  }
}
