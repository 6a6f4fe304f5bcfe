import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { playKills } from './kill-rig.ts';

test('every event arrives in order, although the instance is killed between looks, writes and deliveries', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watch-kills-'));
  try {
    const storeUrl = `sqlite:${join(folder, 'scanner.db')}`;
    const { events } = await playKills({ storeUrl, instances: 1, kills: 6, seed: 1 });
    expect(events).toBeGreaterThan(6);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);
