import { publishedScan } from './contract/samples.ts';
import { storeContract } from './contract.ts';
import { type Memory, openMemory } from './memory-tables.ts';

const memories = new WeakMap<object, Memory>();

function open(memory: Memory, options?: Parameters<typeof openMemory>[1]) {
  const store = openMemory(memory, options);
  memories.set(store, memory);
  return store;
}

storeContract('a store in memory', {
  operations: 300,
  fresh: async (options) => open(new Map(), options),
  restart: async (store, options) => open(memories.get(store) ?? new Map(), options),
  async seedHistory(store, host, rows, firstMs) {
    for (let row = 0; row < rows; row += 1) {
      await store.publish(publishedScan({ host, scannedAtMs: firstMs + row }));
    }
  },
});
