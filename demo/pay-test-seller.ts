/** A pay-test of one of the sellers: what it does with money, which no scan can see. */
import { fileURLToPath } from 'node:url';
import { formatPayTest } from '../src/cli/formatters/pay-test.ts';
import { runPayTest } from '../src/cli/pay-test/run-pay-test.ts';
import { freePort } from '../test/fixtures/service/free-port.ts';

const SELLER = fileURLToPath(new URL('seller.ts', import.meta.url));

/** Returns the report as text. Its seller runs in a process of its own until then. */
export async function payTestSeller(
  name: 'good' | 'as-it-comes',
  say: (line: string) => void,
): Promise<string> {
  const port = await freePort();
  const report = await runPayTest({
    target: `http://127.0.0.1:${port}`,
    start: `PORT=${port} exec ${JSON.stringify(process.execPath)} ${JSON.stringify(SELLER)} ${name}`,
    routes: [
      { method: 'GET', path: '/weather', body: null },
      { method: 'POST', path: '/summaries', body: null },
    ],
    failingRoute: null,
    facilitatorHost: '127.0.0.1',
    facilitatorPort: 0,
    variables: ['FACILITATOR_URL'],
    networks: [],
    only: null,
    findRoutes: async () => [],
    say,
  });
  return formatPayTest(report, 'text');
}
