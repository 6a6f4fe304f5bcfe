/** A page reads and compiles its templates only once. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, test, vi } from 'vitest';
import { startApp } from '../../../fixtures/service/start-app.ts';

test('no page reads a template file when it is fetched again', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  const hosts = ['one.example.com', 'two.example.com', 'three.example.com'];
  for (const host of hosts) await service.publish(host);
  const paths = ['/', '/about-scanner', ...hosts.map((host) => `/o/${host}`), '/checks'];
  const fetchPages = async () => {
    for (const path of paths) expect((await service.get(path)).statusCode).toBe(200);
  };
  await fetchPages();
  const readSpy = vi.spyOn(fs, 'readFileSync');
  syncBuiltinESMExports();
  try {
    for (const host of hosts) await service.publish(host);
    await fetchPages();
    const templates = readSpy.mock.calls.map(([path]) => String(path));
    expect(templates.filter((path) => path.endsWith('.eta'))).toEqual([]);
  } finally {
    readSpy.mockRestore();
    syncBuiltinESMExports();
  }
});
