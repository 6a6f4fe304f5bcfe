/** Runs on the worker of `createAnswerReader`: decodes the bytes and calls the parser. */
import type { Serialized } from '../parse/json/transfer.ts';

type ParseTask = {
  readonly bytes: SharedArrayBuffer;
  readonly exportName: string;
  readonly detail: Serialized;
};

export function parseOnThread(
  { bytes, exportName, detail }: ParseTask,
  module: Readonly<Record<string, unknown>>,
): unknown {
  const parse = module[exportName];
  if (typeof parse !== 'function') throw new TypeError(`No parser is named ${exportName}.`);
  return parse(Buffer.from(bytes).toString('utf8'), detail);
}
