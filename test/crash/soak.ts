/** Each pair of failpoint and retry, then random kills. */
import { defineSoak, SEED } from '../soak/soak.ts';
import { allCells, playCell } from './matrix.ts';
import { playRandomKills } from './random-kills.ts';
import { Rig } from './rig.ts';

export default defineSoak({
  flags: { kills: { from: 1, to: 100_000, usual: 200 }, seed: SEED },

  async play({ kills, seed }, onSignal) {
    async function open(): Promise<Rig> {
      const rig = await Rig.open();
      onSignal(() => rig.end());
      return rig;
    }
    {
      await using rig = await open();
      for (const cell of allCells()) {
        await playCell(rig, cell);
        console.log(`ok: killed when ${cell.failpoint}; ${cell.retry}`);
      }
    }
    await using rig = await open();
    console.log(`${kills} random kills, seed ${seed}`);
    const onKill = (n: number) => {
      if (n % 20 === 0) console.log(`  ${n} of ${kills}`);
    };
    await playRandomKills(rig, { kills, seed, onKill });
    const answers = rig.calls.filter(({ status }) => status === 200).length;
    console.log(
      `ok: ${kills} kills, ${rig.calls.length} calls, ${answers} answers, ${rig.record.transfers.length} payments; every promise holds`,
    );
    return true;
  },
});
