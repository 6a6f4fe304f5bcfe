import type { HttpObservation, Observations } from '../model/observations.ts';

/** Something stood at the address and answered, though not as HTTP asks for. */
const ANSWERED: ReadonlySet<string> = new Set([
  'tls-expired',
  'tls-self-signed',
  'tls-wrong-host',
  'tls-unknown-issuer',
  'tls-other',
  'malformed',
  'redirect-loop',
  'redirect-refused',
]);

/** False where nothing of the origin answered: its host may be a slip of the pen, which no list is to show. */
export function wasReached(seen: Observations): boolean {
  const asked: readonly HttpObservation[] = [
    seen.root,
    seen.soft404,
    seen.openapi,
    ...seen.openapiAlternates.map(({ answer }) => answer),
    seen.manifest,
    seen.manifestJson,
    seen.llmsTxt,
    seen.agentCard,
    seen.agentJson,
    seen.robots,
    ...seen.resources.probed.flatMap(({ probes }) => probes.map(({ answer }) => answer)),
  ];
  return asked.some((answer) => answer.ok || ANSWERED.has(answer.reason));
}
