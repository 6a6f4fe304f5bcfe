/** `npm run test:tries -- [--tries N]`: the long form of `tries.test.ts`. */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const DEFAULT_TRIES = '8000';

process.env['X402_TEST_TRIES'] = String(readTries());
const vitest = await startVitest('test', ['test/payment/tries.long.test.ts'], { watch: false });
await vitest.close();

/** Bad usage is one line, exit 2. */
function readTries(): number {
  try {
    const { values } = parseArgs({
      options: { tries: { type: 'string', default: DEFAULT_TRIES } },
    });
    if (/^[1-9]\d{2,5}$/.test(values.tries)) return Number(values.tries);
    throw new Error(`--tries is "${values.tries}": give a number from 100 to 999999`);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    console.error(`${said} (usage: npm run test:tries -- [--tries N])`);
    process.exit(2);
  }
}
