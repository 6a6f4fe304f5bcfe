/** Streams that keep what a command writes. */
import { PassThrough } from 'node:stream';
import type { Streams } from '../../src/cli/io.ts';

/** Streams of a command, and what it wrote. No terminal. */
export function collector(): {
  readonly streams: Streams;
  written(): string;
  complained(): string;
} {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const read = (stream: PassThrough): string => String(stream.read() ?? '');
  return {
    // A command needs of a terminal's stream what every stream has, as long as it is none.
    streams: { out, err } as unknown as Streams,
    written: () => read(out),
    complained: () => read(err),
  };
}
