/** Reading a recording compiles the schema only once. */
import { Ajv } from 'ajv';
import { expect, test, vi } from 'vitest';
import { parseRecording, RecordingError } from '../../../src/scanner/probe/read-recording.ts';
import { toRecording } from '../../../src/scanner/probe/recording.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';

test('only the first recording compiles the schema', () => {
  const compile = vi.spyOn(Ajv.prototype, 'compile');
  const recording = toRecording({ scannedAt: '2026-08-14T12:00:00Z' }, perfectSeller());
  for (let time = 0; time < 3; time += 1) {
    expect(parseRecording(recording, 'it').observations).toEqual(recording.observations);
    expect(() => parseRecording({}, 'it')).toThrow(RecordingError);
  }
  expect(compile).toHaveBeenCalledTimes(1);
});
