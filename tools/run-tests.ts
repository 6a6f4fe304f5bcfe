/**
 * `npm test`: runs vitest once, whatever the terminal is, and ends with the line
 * `N passed, N failed` (`, N skipped` may follow). Arguments go to vitest: file filters, `-t NAME`.
 * Without a filter the project "long" is left out: `npm run test:long` runs that one. Standard error of
 * a run that died by a signal stays in `.cache/crashes/`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toLastLine } from './test-summary.ts';

const VITEST = fileURLToPath(new URL('./run-vitest.ts', import.meta.url));
/** Threads and processes that tests start share this compile cache. */
const COMPILE_CACHE = fileURLToPath(new URL('../.cache/compiled/', import.meta.url));
const CRASH_FOLDER = fileURLToPath(new URL('../.cache/crashes/', import.meta.url));

const child = spawn(process.execPath, [VITEST, ...process.argv.slice(2)], {
  stdio: ['inherit', 'inherit', 'pipe'],
  env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env },
});
const stderrChunks: Buffer[] = [];
child.stderr.on('data', (chunk: Buffer) => {
  stderrChunks.push(chunk);
  process.stderr.write(chunk);
});
// Forwards the signal to the tests, which then print their results.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void child.kill(signal));
}
await once(child, 'close');
const { exitCode, signalCode } = child;
if (signalCode !== null) {
  await mkdir(CRASH_FOLDER, { recursive: true });
  const file = join(CRASH_FOLDER, `stderr.${child.pid}.${signalCode}`);
  await writeFile(file, Buffer.concat(stderrChunks));
  console.log(`The tests died by ${signalCode}; their standard error is in ${file}`);
  console.log(toLastLine({ passed: 0, failed: 1, skipped: 0, skips: [] }));
}
process.exit(exitCode ?? 1);
