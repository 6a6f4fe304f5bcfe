/** Arguments of `npm run bench`. */
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Effort } from './measurement.ts';

/** In this order; each leaves the machine as quiet as it found it. */
const CASES = [
  'startup',
  'memory',
  'scans',
  'distance',
  'sales',
  'beside',
  'census',
  'reads',
  'directory',
  'ledger',
  'storage',
  'restart',
  'hostile',
] as const;
const STORES = ['sqlite', 'mongodb'] as const;
const MAX_HOSTS = 5_000_000;

const USAGE = `usage: npm run bench -- [--quick] [--json FILE] [--hosts N]… [--store ${STORES.join('|')}] [${CASES.join('|')} …]`;

export type BenchArguments = Effort & {
  readonly json: string | undefined;
  /** In the order in which they are run. */
  readonly wanted: readonly string[];
};

/** Says what is the matter, and how it is called. */
export class BadArguments extends Error {
  constructor(what: string) {
    super(`${what}\n${USAGE}`);
    this.name = 'BadArguments';
  }
}

/** @throws BadArguments */
export function parseArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parsed(args);
  for (const name of positionals) {
    if (!CASES.some((known) => known === name)) {
      throw new BadArguments(`there is no case "${name}"`);
    }
  }
  const { json, quick: isQuick = false } = values;
  if (json !== undefined) refuseFile(json);
  const hosts = values.hosts?.map(hostsFrom);
  const store = STORES.find((known) => known === (values.store ?? 'sqlite'));
  if (store === undefined) throw new BadArguments(`there is no store "${values.store}"`);
  const wanted = CASES.filter((name) => positionals.length === 0 || positionals.includes(name));
  return { isQuick, json, hosts, store, wanted };
}

function parsed(args: readonly string[]) {
  const options = {
    quick: { type: 'boolean' },
    json: { type: 'string' },
    hosts: { type: 'string', multiple: true },
    store: { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new BadArguments(error instanceof Error ? error.message : String(error));
  }
}

function hostsFrom(text: string): number {
  if (/^[1-9]\d*$/.test(text) && Number(text) <= MAX_HOSTS) return Number(text);
  const limit = MAX_HOSTS.toLocaleString('en-GB');
  throw new BadArguments(
    `--hosts "${text}" is not a number of hosts: give an integer from 1 to ${limit}, in digits alone`,
  );
}

/** Before an hour is spent on numbers that nobody can write down. */
function refuseFile(file: string): void {
  const path = resolve(file);
  if (existsSync(path) && statSync(path).isDirectory()) {
    throw new BadArguments(`--json "${file}" is a folder: name a file`);
  }
  if (!existsSync(dirname(path))) {
    throw new BadArguments(`--json "${file}" lies in a folder that is not there: make it first`);
  }
}
