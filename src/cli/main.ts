/**
 * The command line: `scan`, `explain`, `diff`, `preflight`, `mcp`, `capture`, `openapi`. Every
 * failure is one line on standard error, exit 2.
 */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cleanText } from '../parse/text/text.ts';
import { breakCommands } from './formatters/workflow-commands.ts';
import { SCAN_USAGE } from './scan-usage.ts';
import type { Streams } from './streams.ts';

type Command = (args: readonly string[], streams: Streams) => Promise<number>;

/**
 * Half of a short run is reading sources. Where the folder cannot be written there is no cache; the
 * package has one in the user's own cache folder (tools/pack/cli.js).
 */
const COMPILED = new URL('../../.cache/compiled/', import.meta.url);

const MAX_ERROR_CHARS = 2_000;

/** Loaded when called: usage and `diff` need no engine. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  scan: async () => (await import('./scan-command.ts')).scanCommand,
  explain: async () => (await import('./explain-command.ts')).explainCommand,
  diff: async () => (await import('./diff-command.ts')).diffCommand,
  preflight: async () => (await import('./preflight-command.ts')).preflightCommand,
  mcp: async () => (await import('./mcp-command.ts')).mcpCommand,
  capture: async () => (await import('./capture-command.ts')).captureCommand,
  openapi: async () => (await import('./openapi-command.ts')).openapiCommand,
};

async function main(args: readonly string[], streams: Streams): Promise<number> {
  const [name = '', ...rest] = commandFirst(args);
  const names = Object.keys(COMMANDS).join(', ');
  if (name === '--help' || rest.includes('--help')) {
    streams.out.write(
      `${SCAN_USAGE}\n\n  Also: explain <id>, diff A.json B.json [--fail-on-regression], openapi FILE…,\n  preflight URL, capture <origin> --output FILE, mcp\n`,
    );
    return 0;
  }
  const command = isCommand(name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const said = name === '' ? 'a command is missing' : `${name}: no such command`;
    streams.err.write(`${said}; there are ${names} (--help lists the flags)\n`);
    return 2;
  }
  try {
    const run = await command();
    return await run(rest, streams);
  } catch (error) {
    streams.err.write(`${oneLine(error)}\n`);
    return 2;
  }
}

/** `npm run scan -- explain P6` means explain: neither name is a host that could be scanned. */
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

/** Node makes each stream when it is first asked for, which a thread should not wait for to boot. */
function standardStreams(): Streams {
  let isWatched = false;
  return {
    get out() {
      // A reader that has seen enough ("| head") closes the pipe: that is no failure of the scan.
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

function isCommand(name: string): boolean {
  return Object.hasOwn(COMMANDS, name);
}

function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // It may quote a file of a stranger.
  return breakCommands(cleanText(text.split('\n')[0] ?? text, MAX_ERROR_CHARS));
}

if (import.meta.url.endsWith('.ts')) enableCompileCache(fileURLToPath(COMPILED));
loadEnvironment();
process.exitCode = await main(process.argv.slice(2), standardStreams());
