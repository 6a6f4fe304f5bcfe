/**
 * What a worker thread loads first: the compile cache of the host, which threads do not inherit,
 * and only then the work itself, most of whose start is reading sources.
 */
import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';
import type { Answer, Job, LoadJob } from './job.ts';

if (typeof workerData === 'string') enableCompileCache(workerData);
const loading = import('./worker.ts');

/** The task that the pool calls. */
export async function work(job: Job | LoadJob): Promise<Answer> {
  return (await loading).work(job);
}
