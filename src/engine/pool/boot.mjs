/**
 * What a worker thread loads first: the compile cache of the host, which threads do not inherit,
 * and only then the work itself, most of whose start is reading sources. In plain JavaScript: a
 * source with types, loaded before there is a cache, brings the compiler that removes them, which
 * takes a third of the start and 25 MiB for a moment, each time a thread was killed.
 */
import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

if (typeof workerData === 'string') enableCompileCache(workerData);
const loading = import('./worker.ts');

/**
 * The task that the pool calls.
 * @param {import('./job.ts').Job | import('./job.ts').LoadJob} job
 * @returns {Promise<import('./job.ts').Answer>}
 */
export async function work(job) {
  return (await loading).work(job);
}
