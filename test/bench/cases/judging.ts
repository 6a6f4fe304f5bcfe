/** Judging alone: 25 checks over a recording, without a network. */
import { judge } from '../../../src/scan/run-scan.ts';
import { warmUp } from '../../../src/scan/warm-up.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';
import { openEngine } from '../engine.ts';
import { type BenchCase, median } from '../measurement.ts';

const AT_ONCE = 20;

/** 25 checks over what was seen, without any network. */
const judging: BenchCase = async ({ isQuick }) => {
  await using engine = await openEngine([]);
  await warmUp(engine.parts);
  const observations = perfectSeller();
  const once = () => judge(observations, new Date().toISOString(), engine.parts);
  for (let n = 0; n < (isQuick ? 1 : 50); n += 1) await once();

  const alone: number[] = [];
  for (let n = 0; n < (isQuick ? 3 : 200); n += 1) {
    const began = performance.now();
    await once();
    alone.push(performance.now() - began);
  }
  const rounds = isQuick ? 1 : 30;
  const began = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(Array.from({ length: AT_ONCE }, once));
  }
  const perSecond = (rounds * AT_ONCE * 1_000) / (performance.now() - began);
  const { threads } = engine.parts.pool.load();
  return [
    { what: 'one scan judged alone', value: median(alone), unit: 'ms' },
    {
      what: `${AT_ONCE} at once`,
      value: perSecond,
      unit: 'scans/s',
      note: `${threads} threads`,
    },
  ];
};

export default judging;
