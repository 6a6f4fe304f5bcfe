import type { Origin } from '../guard/origin.ts';
import type { HttpObservation } from '../model/observations.ts';
import type { ProbeClient } from '../probe/client/client.ts';
import { EMPTY_OBSERVATIONS } from '../scan/empty-observations.ts';
import { runOnWorker, type ScanWork, type WorkModule } from '../scan/origin-work.ts';
import { askOnce, resolveForStranger, type StrangerOptions, unanswered } from './preflight.ts';
import { notAsked } from './preflight-request.ts';
import type { DeclaringDocuments } from './read-terms.ts';
import type { Preflight } from './result.ts';

export type HostPreflight = {
  /** The path that was asked; null if the documents name none. */
  readonly path: string | null;
  /** Null when `admit` refuses a request. */
  readonly preflight: Preflight | null;
};

const PAID_GET_MODULE: WorkModule<typeof import('./read-terms.ts')> = new URL(
  './read-terms.ts',
  import.meta.url,
);
const MANIFEST = { path: '/.well-known/x402', capBytes: 256 * 1_024 };
/** Half of what a scan reads, because this is free. */
const OPENAPI = { path: '/openapi.json', capBytes: 1_024 * 1_024 };
const ACCEPT = 'application/json, */*;q=0.5';

/**
 * Serves anonymous callers who name only a host: reads the manifest, then the OpenAPI document if the
 * manifest names no address, and asks the first paid GET once. `admit` is asked before each request.
 */
export async function preflightHost(
  origin: Origin,
  options: StrangerOptions,
): Promise<HostPreflight> {
  const { answerWithinMs, admit, client, ...engine } = options;
  const resolved = await resolveForStranger(origin, options);
  if ('verdict' in resolved) return { path: null, preflight: resolved };
  const admitted = () => admit(resolved.addresses);
  const work = { pool: engine.pool, account: engine.pool.openScan() };
  let documents: DeclaringDocuments = {
    origin,
    manifest: EMPTY_OBSERVATIONS.manifest,
    openapi: EMPTY_OBSERVATIONS.openapi,
  };
  let path: string | null = null;
  for (const [name, document] of [
    ['manifest', MANIFEST],
    ['openapi', OPENAPI],
  ] as const) {
    if (!(await admitted())) return { path: null, preflight: null };
    const answer = await readDocument(origin, document, { client, answerWithinMs });
    if (!answer.ok) return { path: null, preflight: unanswered(`GET ${document.path}`, answer) };
    documents = { ...documents, [name]: answer };
    path = await findPaidGet(documents, work);
    if (path !== null) break;
  }
  if (path === null) return { path, preflight: notAsked(NOTHING_DECLARED) };
  if (!(await admitted())) return { path, preflight: null };
  const request = { origin, path, method: 'GET', maxPrice: null };
  const sent = { method: 'GET', redirects: 'none', timeoutMs: answerWithinMs } as const;
  return { path, preflight: await askOnce(request, sent, { client, ...engine }) };
}

const NOTHING_DECLARED =
  'neither /.well-known/x402 nor /openapi.json names something that a GET buys: paste the address of something it sells';

type DocumentOptions = {
  readonly client: Pick<ProbeClient, 'request'>;
  readonly answerWithinMs: number;
};

function readDocument(
  origin: Origin,
  { path, capBytes }: typeof MANIFEST,
  { client, answerWithinMs }: DocumentOptions,
): Promise<HttpObservation> {
  const sent = { method: 'GET', redirects: 'none', accept: ACCEPT } as const;
  return client.request({ ...sent, origin, path, capBytes, timeoutMs: answerWithinMs });
}

/** Null too if the documents are over the limits of a worker. */
async function findPaidGet(documents: DeclaringDocuments, work: ScanWork): Promise<string | null> {
  const paidGet = await runOnWorker(work, 'origin', PAID_GET_MODULE, 'findPaidGet', documents);
  return paidGet.ok ? paidGet.output : null;
}
