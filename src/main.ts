/** `npm start` turns on Node's cache of compiled code, and then loads the service. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Compiling takes most of a start. If the folder is not writable, there is no cache.
enableCompileCache(fileURLToPath(new URL('../.cache/compiled/', import.meta.url)));
const { runService } = await import('./service/run-service.ts');
await runService();
// Node writes the cache at the exit, and a killed process would not write it.
flushCompileCache();
