/** The long form of `tries.long.test.ts`. */
import { startVitest } from 'vitest/node';
import { defineSoak } from '../../soak/soak.ts';

export default defineSoak({
  flags: { tries: { from: 100, to: 999_999, usual: 8_000 } },

  async play({ tries }) {
    process.env['X402_TEST_TRIES'] = String(tries);
    const vitest = await startVitest('test', ['test/service/payment/tries.long.test.ts'], {
      watch: false,
    });
    await vitest.close();
    return vitest.state.getCountOfFailedTests() === 0;
  },
});
