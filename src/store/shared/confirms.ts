import type { Confirm } from '../contract/ownership.ts';
import type { StoreContext } from './context.ts';
import { appendOwnerState, type OwnerState, ownerOf } from './owners.ts';
import type { ConfirmRows } from './ownership.ts';

/** The newest confirm of each host, in the row of what its owner wants and has proved. */
export function confirmsOn(context: StoreContext): ConfirmRows {
  return {
    async get(host) {
      return confirmOf((await ownerOf(context, host)).state);
    },

    async put(host, { atMs, ...proof }) {
      await appendOwnerState(context, host, ({ state }) => {
        const held = confirmOf(state);
        const isKnown = held?.tokenHash === proof.tokenHash || (held?.atMs ?? 0) > atMs;
        return isKnown ? null : { confirmedAtMs: atMs, ...proof };
      });
    },
  };
}

function confirmOf({ confirmedAtMs, tokenHash, keyHash, client }: OwnerState): Confirm | null {
  if (confirmedAtMs === null || tokenHash === null || keyHash === null || client === null) {
    return null;
  }
  return { atMs: confirmedAtMs, tokenHash, keyHash, client };
}
