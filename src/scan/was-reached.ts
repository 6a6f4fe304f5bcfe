import type { HttpObservation, Observations } from '../model/observations.ts';

/** Failures of a peer that accepted a connection and answered, though not in valid HTTP. */
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

/** False when nothing of the origin answered: its host may be a typing error, which no list should show. */
export function wasReached(seen: Observations): boolean {
  return answersOf(seen).some((answer) => answer.ok || ANSWERED.has(answer.reason));
}

/** True when the origin answered with 429 alone, so that nothing was learnt of it. */
export function metOnly429(seen: Observations): boolean {
  const statuses = answersOf(seen).flatMap((answer) => (answer.ok ? [answer.data.status] : []));
  return statuses.length > 0 && statuses.every((status) => status === 429);
}

function answersOf(seen: Observations): readonly HttpObservation[] {
  return [
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
}
