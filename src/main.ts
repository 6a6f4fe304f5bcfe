/** `npm start`: what was compiled is kept, and everything else is loaded after that. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Most of a start is reading sources. Where the folder cannot be written there is no cache.
enableCompileCache(fileURLToPath(new URL('../.cache/compiled/', import.meta.url)));
const { runService } = await import('./service/run-service.ts');
await runService();
// A killed process writes no cache at its exit, and the next start would compile everything again.
flushCompileCache();
