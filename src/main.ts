/** `npm start`: what was compiled is kept, and everything else is loaded after that. */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Most of a start is reading sources. Where the folder cannot be written there is no cache.
enableCompileCache(fileURLToPath(new URL('../.cache/compiled/', import.meta.url)));
const { runService } = await import('./service/run-service.ts');
await runService();
// Not at the exit alone: a process that is killed writes nothing, and the next start would compile all again.
flushCompileCache();
