/** Runs a pay-test of a crafted seller, with short waits. */

import type { PayTestReport, TrialStatus } from '../../../src/cli/pay-test/result.ts';
import { type PayTestOptions, runPayTest } from '../../../src/cli/pay-test/run-pay-test.ts';
import { type CraftedSettings, craftedSeller } from '../../fixtures/sellers/crafted-seller.ts';
import { freePort } from '../../fixtures/service/free-port.ts';

const route = (path: string) => ({ method: 'GET', path, body: null });
export const WEATHER = route('/weather');
export const FORECAST = route('/forecast');
export const BROKEN = route('/broken');

/** The facilitator is silent longer than the seller waits; the test waits longer than both. */
export const SHORT_WAITS = {
  startMs: 20_000,
  silenceMs: 3_500,
  patienceMs: 20_000,
  answerMs: 10_000,
};

type Wanted = Partial<PayTestOptions> & { readonly seller?: Omit<CraftedSettings, 'port'> };

/** The address of a crafted seller, and the command that starts it there. */
export async function placeSeller(settings: Omit<CraftedSettings, 'port'> = {}) {
  const port = await freePort();
  return { target: `http://127.0.0.1:${port}`, start: craftedSeller({ port, ...settings }) };
}

export async function payTest({ seller, ...options }: Wanted): Promise<PayTestReport> {
  return runPayTest({
    ...(await placeSeller(seller)),
    routes: [WEATHER],
    failingRoute: BROKEN,
    facilitatorHost: '127.0.0.1',
    facilitatorPort: 0,
    variables: ['FACILITATOR_URL'],
    networks: [],
    only: null,
    timing: SHORT_WAITS,
    findRoutes: async () => [],
    say: () => undefined,
    ...options,
  });
}

export function listTrialIds(report: PayTestReport, ...statuses: readonly TrialStatus[]): string[] {
  const found = report.trials.filter(({ status }) => statuses.includes(status));
  return [...new Set(found.map(({ id }) => id))];
}
