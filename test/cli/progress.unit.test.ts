import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createProgress } from '../../src/cli/io.ts';

function showProgress(isTTY: boolean): string {
  const stream = new PassThrough();
  // Progress reads only `isTTY` of the stream, and writes to it.
  const progress = createProgress(
    Object.assign(stream, { isTTY }) as unknown as NodeJS.WriteStream,
  );
  for (const stage of ['documents', 'resources', 'details'] as const) progress.show(stage);
  progress.clear();
  return String(stream.read() ?? '');
}

test('a terminal shows progress in one line that is removed at the end', () => {
  const output = showProgress(true);
  expect(output).toContain('reading documents …');
  expect(output).toContain('asking for paid resources …');
  expect(output).not.toContain('\n');
  expect(output.endsWith('\r\u001b[2K')).toBe(true);
});

test('an output that is not a terminal shows no progress', () => {
  expect(showProgress(false)).toBe('');
});
