/** The command line: `scan`, `explain`, `diff`. Every failure is one line on standard error, exit 2. */
import { existsSync } from 'node:fs';
import { diffCommand } from './diff-command.ts';
import { explainCommand } from './explain-command.ts';
import { type Streams, scanCommand } from './scan-command.ts';
import { SCAN_USAGE } from './scan-options.ts';

const COMMANDS = { scan: scanCommand, explain: explainCommand, diff: diffCommand } as const;

async function main(args: readonly string[], streams: Streams): Promise<number> {
  const [name = '', ...rest] = commandFirst(args);
  if (name === '' || name === '--help' || rest.includes('--help')) {
    streams.out.write(
      `${SCAN_USAGE}\n\n  Also: npm run scan -- explain <id>, npm run scan -- diff A.json B.json\n`,
    );
    return name === '' ? 2 : 0;
  }
  const command = Object.entries(COMMANDS).find(([known]) => known === name)?.[1];
  if (command === undefined) {
    streams.err.write(`${name}: no such command; there are ${Object.keys(COMMANDS).join(', ')}\n`);
    return 2;
  }
  try {
    return await command(rest, streams);
  } catch (error) {
    streams.err.write(`${oneLine(error)}\n`);
    return 2;
  }
}

/** `npm run scan -- explain P6` means explain: neither name is a host that could be scanned. */
function commandFirst(args: readonly string[]): readonly string[] {
  const [, second = ''] = args;
  return args[0] === 'scan' && second !== 'scan' && second in COMMANDS ? args.slice(1) : args;
}

function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? text;
}

if (existsSync('.env')) process.loadEnvFile('.env');
process.exitCode = await main(process.argv.slice(2), {
  out: process.stdout,
  err: process.stderr,
});
