import type { Origin } from '../guard/origin.ts';
import type { HttpObservation } from '../model/observations.ts';
import { EMPTY_OBSERVATIONS } from '../scan/empty-observations.ts';
import { runOnWorker, type ScanWork, type WorkModule } from '../scan/origin-work.ts';
import {
  ACCEPT,
  answerUnresolved,
  askOnce,
  type StrangerOptions,
  unanswered,
} from './preflight.ts';
import { notAsked } from './preflight-request.ts';
import type { DeclaringDocuments } from './read-terms.ts';
import type { Preflight } from './result.ts';

export type HostPreflight = {
  /** The path that was requested; null if the documents declare no paid GET. */
  readonly path: string | null;
  readonly preflight: Preflight;
};

const PAID_GET_MODULE: WorkModule<typeof import('./read-terms.ts')> = new URL(
  './read-terms.ts',
  import.meta.url,
);
const MANIFEST_DOCUMENT = { path: '/.well-known/x402', capBytes: 256 * 1_024 };
/** A scan reads up to twice as many bytes. A preflight reads fewer, because it is free. */
const OPENAPI_DOCUMENT = { path: '/openapi.json', capBytes: 1_024 * 1_024 };

/**
 * Serves anonymous callers who name only a host. Reads the manifest and, if it declares no paid GET, the OpenAPI document.
 * Then sends one request to the first paid GET.
 */
export async function preflightHost(
  origin: Origin,
  options: StrangerOptions,
): Promise<HostPreflight> {
  const { answerWithinMs, client, ...engine } = options;
  const unresolved = await answerUnresolved(origin, client);
  if (unresolved !== null) return { path: null, preflight: unresolved };
  const work = { pool: engine.pool, account: engine.pool.openScan() };
  const { manifest, openapi } = EMPTY_OBSERVATIONS;
  let documents: DeclaringDocuments = { origin, manifest, openapi };
  let path: string | null = null;
  for (const [name, document] of [
    ['manifest', MANIFEST_DOCUMENT],
    ['openapi', OPENAPI_DOCUMENT],
  ] as const) {
    const answer = await readDocument(origin, document, { client, answerWithinMs });
    if (!answer.ok) return { path: null, preflight: unanswered(`GET ${document.path}`, answer) };
    documents = { ...documents, [name]: answer };
    path = await findPaidGet(documents, work);
    if (path !== null) break;
  }
  if (path === null) return { path, preflight: notAsked(NO_PAID_GET) };
  const request = { origin, path, method: 'GET', maxPrice: null };
  const settings = { method: 'GET', redirects: 'none', timeoutMs: answerWithinMs } as const;
  return { path, preflight: await askOnce(request, settings, { client, ...engine }) };
}

const NO_PAID_GET =
  'neither /.well-known/x402 nor /openapi.json names something that a GET buys: paste the address of something that the host sells';

function readDocument(
  origin: Origin,
  { path, capBytes }: typeof MANIFEST_DOCUMENT,
  { client, answerWithinMs }: Pick<StrangerOptions, 'client' | 'answerWithinMs'>,
): Promise<HttpObservation> {
  const settings = { method: 'GET', redirects: 'none', accept: ACCEPT } as const;
  return client.request({ ...settings, origin, path, capBytes, timeoutMs: answerWithinMs });
}

/** Also null if the worker exceeded its limits. */
async function findPaidGet(documents: DeclaringDocuments, work: ScanWork): Promise<string | null> {
  const paidGet = await runOnWorker(work, 'origin', PAID_GET_MODULE, 'findPaidGet', documents);
  return paidGet.ok ? paidGet.output : null;
}
