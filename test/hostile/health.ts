/** Measures /health during hostile handshakes, which anybody can start for free. */
import { startInstance } from '../hosts/instance-process.ts';
import { watch } from './crowds.ts';
import { startHandshakes } from './handshakes.ts';

const HANDSHAKES = 64;

export type HealthTold = {
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly handshakes: number;
};

export async function measureHealth(): Promise<HealthTold> {
  await using hostile = await startHandshakes(HANDSHAKES);
  const service = await startInstance({
    SCAN_ALLOW_HOSTS: hostile.hosts.join(','),
    STORE_URL: 'sqlite::memory:',
    RATE_LIMIT: 'off',
  });
  try {
    const watching = watch(service);
    await Promise.all(
      hostile.hosts.map(async (host) => {
        const body = { url: `https://${host}` };
        await service.post('/v1/verify/start', body);
        await service.post('/v1/verify/confirm', body);
      }),
    );
    const { healthP99Ms, healthMaxMs } = await watching.end();
    return { p99Ms: healthP99Ms, maxMs: healthMaxMs, handshakes: await hostile.begun() };
  } finally {
    await service.kill();
  }
}
