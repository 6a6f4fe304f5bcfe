/** The worker's half of the answer reader: decodes the bytes and calls the reading. */
import type { Serialized } from '../parse/json/transfer.ts';

type Input = {
  readonly bytes: SharedArrayBuffer;
  readonly exportName: string;
  readonly detail: Serialized;
};

export function readOnThread(
  { bytes, exportName, detail }: Input,
  module: Readonly<Record<string, unknown>>,
): unknown {
  const read = module[exportName];
  if (typeof read !== 'function') throw new TypeError(`No reading is named ${exportName}.`);
  return read(Buffer.from(bytes).toString('utf8'), detail);
}
