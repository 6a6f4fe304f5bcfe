/** `npm start` turns on Node's cache of compiled code, and then loads the service. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Compiling takes most of the start time. If the folder is not writable, nothing is cached.
enableCompileCache(fileURLToPath(new URL('../.cache/compiled/', import.meta.url)));
const { runService } = await import('./service/start/run-service.ts');
await runService();
// Node writes the cache when the process exits normally. A killed process would not write it.
flushCompileCache();
