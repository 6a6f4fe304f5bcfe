import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type CommandName, showCall } from './call-form.ts';
import { UsageError } from './usage-error.ts';

/** Throws UsageError for an unknown flag and for a flag without its value. */
export function readFlags<const T extends ParseArgsConfig>(command: CommandName, config: T) {
  try {
    return parseArgs<T>(config);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${said.split('\n')[0]} (${showCall(command)} --help lists the flags)`);
  }
}

/** Throws UsageError that lists the accepted values. */
export function parseChoice<const T extends string>(
  flag: string,
  value: string,
  accepted: readonly T[],
): T {
  const found = accepted.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw new UsageError(`${flag} ${JSON.stringify(value)} is not one of ${accepted.join(', ')}`);
}
