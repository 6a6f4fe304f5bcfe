/** The command line. Every failure prints one line on standard error and exits with 2. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cleanText } from '../parse/text/text.ts';
import { packageVersion } from '../probe/client/user-agent.ts';
import { breakCommands } from './formatters/escapes.ts';
import type { Streams } from './io.ts';
import { COMMAND_NAMES, type CommandName, messageOf, USAGES, usageLine } from './usage.ts';

type Command = (args: readonly string[], streams: Streams) => Promise<number>;

/**
 * Compiling the sources takes half of a short run, so Node caches the result here. Without write access
 * there is no cache. The package has its own (tools/pack/cli.js).
 */
const COMPILED = new URL('../../.cache/compiled/', import.meta.url);

const MAX_ERROR_CHARS = 2_000;

/** Loaded on demand: usage and `diff` need no engine. */
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

async function main(args: readonly string[], streams: Streams): Promise<number> {
  const [name = '', ...rest] = commandFirst(args);
  const options = [name, ...rest.slice(0, endOfOptions(rest))];
  const isHelp = options.some((one) => one === '--help' || one === '-h');
  const command = isCommand(name) ? name : undefined;
  if (isHelp || options.includes('--version')) {
    streams.out.write(isHelp ? helpOf(command) : `${packageVersion()}\n`);
    return 0;
  }
  if (command === undefined) {
    const said = name === '' ? 'a command is missing' : `${name}: no such command`;
    const names = COMMAND_NAMES.join(', ');
    streams.err.write(oneLine(`${said}; there are ${names} (--help lists the flags)`));
    return 2;
  }
  try {
    const run = await COMMANDS[command]();
    return await run(rest, streams);
  } catch (error) {
    streams.err.write(oneLine(error));
    return 2;
  }
}

/** Index of "--", behind which nothing is an option. */
function endOfOptions(args: readonly string[]): number {
  const end = args.indexOf('--');
  return end === -1 ? args.length : end;
}

/** The flags of a command. Without one: those of `scan`, and a line for each other command. */
function helpOf(command: CommandName | undefined): string {
  if (command !== undefined) return `${USAGES[command]}\n`;
  const others = COMMAND_NAMES.filter((name) => name !== 'scan').map(
    (name) => `  ${usageLine(name)}`,
  );
  return [
    USAGES.scan,
    '',
    ...others,
    '',
    '  --help after a command explains it; --version prints the version.',
    '',
  ].join('\n');
}

/** `npm run scan -- explain P6` means explain: names of commands are not hosts. */
function commandFirst(args: readonly string[]): readonly string[] {
  const [first, second = ''] = args;
  return first === 'scan' && second !== 'scan' && isCommand(second) ? args.slice(1) : args;
}

function loadEnvironment(): void {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** Node creates each stream at its first access; getters delay that until the thread boots. */
function standardStreams(): Streams {
  let isWatched = false;
  return {
    get out() {
      // A reader such as "| head" closes the pipe early, which is not a failure of the scan.
      if (!isWatched) process.stdout.on('error', endWithReader);
      isWatched = true;
      return process.stdout;
    },
    get err() {
      return process.stderr;
    },
  };
}

function endWithReader(error: NodeJS.ErrnoException): void {
  process.exit(error.code === 'EPIPE' ? process.exitCode : 2);
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The message on one line, with its line break. */
function oneLine(error: unknown): string {
  const text = messageOf(error);
  // The message may quote a recording of somebody else, and its line breaks.
  return `${breakCommands(cleanText(text.replaceAll(/\s+/g, ' '), MAX_ERROR_CHARS))}\n`;
}

if (import.meta.url.endsWith('.ts')) enableCompileCache(fileURLToPath(COMPILED));
loadEnvironment();
process.exitCode = await main(process.argv.slice(2), standardStreams());
