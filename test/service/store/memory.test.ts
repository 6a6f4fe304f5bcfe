import { publishedScan } from './contract/samples.ts';
import { storeContract } from './contract.ts';
import { type Memory, openMemory } from './memory-tables.ts';

const memoryOfStore = new WeakMap<object, Memory>();

/** Opens a store, and remembers its memory for a restart. */
function openRemembered(memory: Memory, options?: Parameters<typeof openMemory>[1]) {
  const store = openMemory(memory, options);
  memoryOfStore.set(store, memory);
  return store;
}

storeContract('a store in memory', {
  operations: 300,
  fresh: async (options) => openRemembered(new Map(), options),
  restart: async (store, options) => openRemembered(memoryOfStore.get(store) ?? new Map(), options),
  async seedHistory(store, host, rows, firstMs) {
    for (let row = 0; row < rows; row += 1) {
      await store.publish(publishedScan({ host, scannedAtMs: firstMs + row }));
    }
  },
});
