/** `npm run test:crash -- [--kills N] [--seed N]`: the whole crash matrix, then random kills. */
import { parseArgs } from 'node:util';
import { allCells, playCell } from './matrix.ts';
import { playRandomKills } from './random-kills.ts';
import { Rig } from './rig.ts';

const DEFAULT_KILLS = '200';

const { kills, seed } = readOptions();
const opened = new Set<Rig>();
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  // At once, without a turn of the event loop: the play would start the next child.
  process.once(signal, () => {
    for (const rig of opened) rig.end();
    process.exit(code);
  });
}

{
  await using rig = await open();
  for (const cell of allCells()) {
    await playCell(rig, cell);
    console.log(`ok: killed when ${cell.failpoint}; ${cell.retry}`);
  }
}
{
  await using rig = await open();
  console.log(`${kills} random kills, seed ${seed}`);
  const onKill = (n: number) => {
    if (n % 20 === 0) console.log(`  ${n} of ${kills}`);
  };
  try {
    await playRandomKills(rig, { kills, seed, onKill });
  } catch (error) {
    console.error(`Broken with --kills ${kills} --seed ${seed}`);
    throw error;
  }
  const answers = rig.calls.filter(({ status }) => status === 200).length;
  console.log(
    `ok: ${kills} kills, ${rig.calls.length} calls, ${answers} answers, ${rig.record.transfers.length} payments; every promise holds`,
  );
}

async function open(): Promise<Rig> {
  const rig = await Rig.open();
  opened.add(rig);
  return rig;
}

/** Bad usage is one line, exit 2: nothing has been started yet. */
function readOptions(): { readonly kills: number; readonly seed: number } {
  try {
    const { values } = parseArgs({
      options: {
        kills: { type: 'string', default: DEFAULT_KILLS },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      },
    });
    return {
      kills: wholeNumber('--kills', values.kills),
      seed: wholeNumber('--seed', values.seed),
    };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    console.error(`${said} (usage: npm run test:crash -- [--kills N] [--seed N])`);
    process.exit(2);
  }
}

function wholeNumber(name: string, value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new Error(`${name} is "${value}": give a positive whole number`);
}
