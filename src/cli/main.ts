/** The command line. Every failure prints one line on standard error and exits with 2. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { loadEnvFile } from '../scanner/environment/env-file.ts';
import { messageOf } from '../scanner/model/redact.ts';
import { cleanText } from '../scanner/parse/text/text.ts';
import { readPackageVersion } from '../scanner/probe/client/user-agent.ts';
import { defuseCommands } from './formatters/escapes.ts';
import type { Streams } from './io.ts';
import { COMMAND_NAMES, type CommandName, USAGES, usageLine } from './usage.ts';

type Command = (
  args: readonly string[],
  streams: Streams,
  /** Names of the variables that come from `.env`. */
  namesFromFile: readonly string[],
) => Promise<number>;

/**
 * Compiling the sources takes half the time of a short run, so Node caches the result in this folder. Without
 * write access there is no cache. The npm package has a cache of its own (tools/pack/cli.js).
 */
const COMPILE_CACHE = new URL('../../.cache/compiled/', import.meta.url);

const MAX_ERROR_CHARS = 2_000;

/** Commands are loaded on demand, because usage and `diff` need no engine. */
const COMMANDS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  scan: async () => (await import('./scan-command.ts')).scanCommand,
  explain: async () => (await import('./explain-command.ts')).explainCommand,
  diff: async () => (await import('./diff-command.ts')).diffCommand,
  'pay-test': async () => (await import('./pay-test-command.ts')).payTestCommand,
  preflight: async () => (await import('./preflight-command.ts')).preflightCommand,
  mcp: async () => (await import('./mcp-command.ts')).mcpCommand,
  capture: async () => (await import('./capture-command.ts')).captureCommand,
  openapi: async () => (await import('./openapi-command.ts')).openapiCommand,
  verify: async () => (await import('./verify-command.ts')).verifyCommand,
};

async function main(
  args: readonly string[],
  streams: Streams,
  namesFromFile: readonly string[],
): Promise<number> {
  const [name = '', ...commandArgs] = skipScanName(args);
  const options = [name, ...commandArgs.slice(0, findEndOfOptions(commandArgs))];
  const isHelp = options.some((option) => option === '--help' || option === '-h');
  const command = isCommand(name) ? name : undefined;
  if (isHelp || options.includes('--version')) {
    streams.out.write(isHelp ? toHelpText(command) : `${readPackageVersion()}\n`);
    return 0;
  }
  if (command === undefined) {
    const problem = name === '' ? 'a command is missing' : `${name}: no such command`;
    const names = COMMAND_NAMES.join(', ');
    streams.err.write(toErrorLine(`${problem}; there are ${names} (--help lists the flags)`));
    return 2;
  }
  try {
    const run = await COMMANDS[command]();
    return await run(commandArgs, streams, namesFromFile);
  } catch (error) {
    streams.err.write(toErrorLine(error));
    return 2;
  }
}

/** Index of "--", after which no argument is an option. */
function findEndOfOptions(args: readonly string[]): number {
  const end = args.indexOf('--');
  return end === -1 ? args.length : end;
}

/** Help for a command; without a command, the help of `scan` and a line for each other command. */
function toHelpText(command: CommandName | undefined): string {
  if (command !== undefined) return `${USAGES[command]}\n`;
  const otherNames = COMMAND_NAMES.filter((name) => name !== 'scan');
  return [
    USAGES.scan,
    '',
    ...otherNames.map((name) => `  ${usageLine(name)}`),
    '',
    '  --help after a command explains it; --version prints the version.',
    '',
  ].join('\n');
}

/** `npm run scan -- explain P6` means `explain P6`, because a name of a command is not a host. */
function skipScanName(args: readonly string[]): readonly string[] {
  const [first, second = ''] = args;
  return first === 'scan' && second !== 'scan' && isCommand(second) ? args.slice(1) : args;
}

/** Returns the names of the variables in `.env`. A scan needs none of them, so an unreadable file only warns. */
function loadEnvironment({ err }: Streams): readonly string[] {
  try {
    return loadEnvFile();
  } catch (error) {
    err.write(`warning: ${toErrorLine(error)}`);
    return [];
  }
}

/** Node creates each stream at its first access. The getters delay the creation, so that the threads boot first. */
function standardStreams(): Streams {
  let hasListener = false;
  return {
    get out() {
      // A reader such as "| head" may close the pipe early, which is not a failure of the scan.
      if (!hasListener) process.stdout.on('error', exitOnWriteError);
      hasListener = true;
      return process.stdout;
    },
    get err() {
      return process.stderr;
    },
  };
}

function exitOnWriteError(error: NodeJS.ErrnoException): void {
  process.exit(error.code === 'EPIPE' ? process.exitCode : 2);
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The message on one line, which ends with a line break. */
function toErrorLine(error: unknown): string {
  const text = messageOf(error);
  // The message may quote text of an origin, with line breaks.
  return `${defuseCommands(cleanText(text.replaceAll(/\s+/g, ' '), MAX_ERROR_CHARS))}\n`;
}

if (import.meta.url.endsWith('.ts')) enableCompileCache(fileURLToPath(COMPILE_CACHE));
const streams = standardStreams();
const namesFromFile = loadEnvironment(streams);
process.exitCode = await main(process.argv.slice(2), streams, namesFromFile);
