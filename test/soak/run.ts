/**
 * `npm run test:NAME -- [--FLAG N]…` plays one soak. Exit code 0: every promise holds. 1: a promise is broken. 2: bad
 * usage, or this machine lacks a part. 130 and 143: a signal ended the soak.
 */
import { parseArgs } from 'node:util';
import { type Flag, type Soak, SoakImpossible } from './soak.ts';

const SOAKS: Readonly<Record<string, () => Promise<{ readonly default: Soak }>>> = {
  census: () => import('../service/census/soak.ts'),
  crash: () => import('../crash/soak.ts'),
  hostile: () => import('../hostile/soak.ts'),
  hosts: () => import('../hosts/soak.ts'),
  tries: () => import('../service/payment/tries-soak.ts'),
  watch: () => import('../service/watch/soak.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = SOAKS[name];
if (load === undefined) {
  console.error(`"${name}" is not a soak: give one of ${Object.keys(SOAKS).join(', ')}`);
  process.exit(2);
}
const { flags, play } = (await load()).default;
const values = readFlags();
const ends: (() => void)[] = [];
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    for (const end of ends) end();
    process.exit(code);
  });
}
try {
  if (!(await play(values, (end) => ends.push(end)))) process.exitCode = 1;
} catch (error) {
  const flagTexts = Object.entries(values).map(([flag, value]) => `--${flag} ${value}`);
  console.error(`Broken off: npm run test:${name} -- ${flagTexts.join(' ')}`);
  if (!(error instanceof SoakImpossible)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

/** Bad usage is one line, exit code 2: nothing has been started yet. */
function readFlags(): Record<string, number> {
  const names = Object.keys(flags);
  try {
    const options = Object.fromEntries(names.map((flag) => [flag, { type: 'string' as const }]));
    const texts = parseArgs({ args, options }).values;
    return Object.fromEntries(
      Object.entries(flags).map(([flag, limits]) => [flag, toNumber(flag, texts[flag], limits)]),
    );
  } catch (error) {
    const usage = names.map((flag) => ` [--${flag} N]`).join('');
    const message = error instanceof Error ? error.message : String(error);
    console.error(`${message} (usage: npm run test:${name} --${usage})`);
    process.exit(2);
  }
}

function toNumber(flag: string, text: string | undefined, { from, to, usual }: Flag): number {
  if (text === undefined) return usual;
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= from && value <= to) return value;
  throw new Error(`--${flag} is "${text}": give a whole number from ${from} to ${to}`);
}
