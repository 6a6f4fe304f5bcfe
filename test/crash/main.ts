/** `npm run test:crash -- [--kills N] [--seed N]`: the whole crash matrix, then random kills. */
import { parseArgs } from 'node:util';
import { allCells, playCell } from './matrix.ts';
import { playRandomKills } from './random-kills.ts';
import { Rig } from './rig.ts';

const DEFAULT_KILLS = '200';

const { kills, seed } = readOptions();

{
  await using rig = await Rig.open();
  for (const cell of allCells()) {
    await playCell(rig, cell);
    console.log(`ok: killed when ${cell.failpoint}; ${cell.retry}`);
  }
}
{
  await using rig = await Rig.open();
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
