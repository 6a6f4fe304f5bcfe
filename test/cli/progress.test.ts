import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createProgress } from '../../src/cli/io.ts';

function run(isTTY: boolean): string {
  const stream = new PassThrough();
  // Progress asks of a terminal's stream whether it is one, and writes.
  const progress = createProgress(
    Object.assign(stream, { isTTY }) as unknown as NodeJS.WriteStream,
  );
  for (const stage of ['documents', 'resources', 'details'] as const) progress.show(stage);
  progress.clear();
  return String(stream.read() ?? '');
}

test('a terminal shows progress in one line that is removed at the end', () => {
  const told = run(true);
  expect(told).toContain('reading documents …');
  expect(told).toContain('asking for paid resources …');
  expect(told).not.toContain('\n');
  expect(told.endsWith('\r\u001b[2K')).toBe(true);
});

test('an output that is not a terminal shows no progress', () => {
  expect(run(false)).toBe('');
});
