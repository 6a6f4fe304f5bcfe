/** Measures /health during hostile handshakes, which anybody can start for free. */
import { launchInstance } from '../hosts/instance-process.ts';
import { startHandshakes } from './handshakes.ts';

const HANDSHAKES = 64;
const EVERY_MS = 10;

export type HealthTold = {
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly handshakes: number;
};

export async function measureHealth(): Promise<HealthTold> {
  const hostile = await startHandshakes(HANDSHAKES);
  const service = await launchInstance({
    SCAN_ALLOW_HOSTS: hostile.hosts.join(','),
    STORE_URL: 'sqlite::memory:',
    RATE_LIMIT: 'off',
  });
  try {
    await ready(service.url);
    const waits: number[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const startMs = performance.now();
        await (await fetch(`${service.url}/health`)).arrayBuffer();
        waits.push(performance.now() - startMs);
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      }
    })();
    await Promise.all(
      hostile.hosts.map(async (host) => {
        const body = { url: `https://${host}` };
        await service.post('/v1/verify/start', body);
        await service.post('/v1/verify/confirm', body);
      }),
    );
    isOver = true;
    await watching;
    waits.sort((a, b) => a - b);
    const p99Ms = waits[Math.floor(waits.length * 0.99)] ?? 0;
    return { p99Ms, maxMs: waits.at(-1) ?? 0, handshakes: await hostile.begun() };
  } finally {
    await service.kill();
    await hostile[Symbol.asyncDispose]();
  }
}

async function ready(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/health`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
