/** docs/owners.md prints a receiver in TypeScript. This test runs its code. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'vitest';
import { expectReceiverToVerify } from './printed-receiver.ts';

test('the receiver in TypeScript agrees to receive events, and refuses a wrong signature', async () => {
  const cache = fileURLToPath(new URL('../../../.cache/', import.meta.url));
  await mkdir(cache, { recursive: true });
  // The folder is inside the checkout, because the receiver imports a package.
  const folder = await mkdtemp(join(cache, 'receiver-'));
  try {
    const page = await readFile(new URL('../../../docs/owners.md', import.meta.url), 'utf8');
    const code = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const file = join(folder, 'receiver.ts');
    await writeFile(file, code);
    await expectReceiverToVerify(process.execPath, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
