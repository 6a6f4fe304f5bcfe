/**
 * What is compared against: each check fetches what it needs by itself, on the same four
 * connections, and judges nothing. It knows beforehand what to ask for, which a real one would not.
 */
import { Pool } from 'undici';
import type { ObservationName, Observations } from '../../src/model/observations.ts';
import type { ScannerOptions } from '../../src/scan/run-scan.ts';

type Ask = { readonly method: 'GET' | 'HEAD' | 'POST'; readonly path: string };

const CONNECTIONS = 4;
const PATHS: Readonly<Partial<Record<ObservationName, string>>> = {
  root: '/',
  soft404: '/nothing-is-here',
  openapi: '/openapi.json',
  manifest: '/.well-known/x402',
  manifestJson: '/.well-known/x402.json',
  llmsTxt: '/llms.txt',
  agentCard: '/.well-known/agent-card.json',
  agentJson: '/.well-known/agent.json',
  robots: '/robots.txt',
};

/** How many requests it took. `seen` is what a scan of the same origin saw. */
export async function scanNaively(
  url: string,
  { catalog, checks }: Pick<ScannerOptions, 'catalog' | 'checks'>,
  seen: Observations,
): Promise<number> {
  const origin = new Pool(url, { connections: CONNECTIONS });
  let requests = 0;
  const waiting = catalog.checks.map(({ impl }) => {
    const needs = checks.find((check) => check.impl === impl)?.definition.needs ?? [];
    return needs.flatMap((name) => asksFor(name, seen));
  });
  const worker = async (): Promise<void> => {
    for (let asks = waiting.shift(); asks !== undefined; asks = waiting.shift()) {
      for (const { method, path } of asks) {
        const body = method === 'POST' ? '{}' : null;
        const answer = await origin.request({ method, path, body });
        await answer.body.dump();
        requests += 1;
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  } finally {
    await origin.close();
  }
  return requests;
}

function asksFor(name: ObservationName, seen: Observations): readonly Ask[] {
  const path = PATHS[name];
  if (path !== undefined) return [{ method: 'GET', path }];
  switch (name) {
    case 'openapiAlternates':
      return seen.openapiAlternates.map((one) => ({ method: 'GET', path: one.path }));
    case 'resources':
      return seen.resources.probed.flatMap((resource) =>
        resource.probes.map(({ method }) => ({ method, path: resource.path })),
      );
    case 'links':
      return seen.links.checked.map(({ method, url }) => ({ method, path: pathOf(url) }));
    case 'icons':
      return seen.icons.checked.map((one) => ({ method: 'GET', path: one.path }));
    default:
      return [];
  }
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
