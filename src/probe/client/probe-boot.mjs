/**
 * What the thread of the probe loads first: the compile cache of the host, which threads do not
 * inherit. In plain JavaScript: a source with types, loaded before there is a cache, brings the
 * compiler that removes them.
 */
import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

if (typeof workerData === 'string') enableCompileCache(workerData);
await import('./probe-worker.ts');
