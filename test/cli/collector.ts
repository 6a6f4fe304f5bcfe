import { PassThrough } from 'node:stream';
import type { Streams } from '../../src/cli/io.ts';

/** Makes streams that keep what a command writes. They are not a terminal. */
export function collector(): {
  readonly streams: Streams;
  written(): string;
  complained(): string;
} {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const read = (stream: PassThrough): string => String(stream.read() ?? '');
  return {
    // A command uses only members that each stream has, unless `isTTY` is true.
    streams: { out, err } as unknown as Streams,
    written: () => read(out),
    complained: () => read(err),
  };
}
