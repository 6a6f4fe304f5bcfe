/** Recordings of real and simulated sellers, written by `scan --save`. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { fileDigest } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { readRecording } from '../../src/scanner/probe/read-recording.ts';
import type { Recording } from '../../src/scanner/probe/recording.ts';

export type RecordedOrigin = {
  /** The file's name without ".json". */
  readonly name: string;
  readonly digest: string;
  readonly recording: Recording;
};

const FOLDER = new URL('../fixtures/origins/recorded/', import.meta.url);

/** Sorted by name, and empty if nothing is recorded. */
export async function recordedOrigins(): Promise<readonly RecordedOrigin[]> {
  const files = await readdir(FOLDER).catch(() => []);
  return Promise.all(
    files
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map(async (file) => {
        const path = fileURLToPath(new URL(encodeURIComponent(file), FOLDER));
        const digest = fileDigest(await readFile(path, 'utf8'));
        return { name: file.replace(/\.json$/, ''), digest, recording: await readRecording(path) };
      }),
  );
}
