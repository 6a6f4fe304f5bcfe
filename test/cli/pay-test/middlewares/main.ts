/** `npm run test:middlewares [NAME…]`: a pay-test of every official middleware, as the table of docs/pay-test.md. */
import { fileURLToPath } from 'node:url';
import {
  type PayTestReport,
  TRIAL_IDS,
  type TrialStatus,
} from '../../../../src/cli/pay-test/result.ts';
import { runPayTest } from '../../../../src/cli/pay-test/run-pay-test.ts';
import { ensurePythonEnv } from '../../../fixtures/clients/python/python-env.ts';
import { ensureJudge } from '../../../fixtures/judges/judge-tools.ts';
import { freePort } from '../../../fixtures/service/free-port.ts';

const VERSION = '2.27.0';
const CORE = { '@x402/core': VERSION, '@x402/evm': VERSION, '@x402/extensions': VERSION };
/** Newest version of Next on the registry. */
const NEXT = {
  '@x402/core': '2.25.0',
  '@x402/evm': '2.25.0',
  '@x402/extensions': '2.25.0',
  '@x402/next': '2.25.0',
  next: '16.4.6',
};
const JAVASCRIPT = {
  express: { ...CORE, '@x402/express': VERSION, express: '5.3.0' },
  hono: { ...CORE, '@x402/hono': VERSION, hono: '4.13.19' },
  next: NEXT,
  'next-proxy': NEXT,
  'express-v1': { 'x402-express': '1.2.0', express: '5.3.0' },
} as const;
const PYTHON = ['fastapi', 'flask'] as const;
const MARKS: Readonly<Record<TrialStatus, string>> = {
  pass: 'pass',
  warn: 'warn',
  fail: '**fail**',
  not_run: '·',
};

const script = (name: string) => JSON.stringify(fileURLToPath(new URL(name, import.meta.url)));

type Row = { readonly name: string; readonly report: PayTestReport | null; readonly text: string };

async function commandOf(name: string): Promise<string | { readonly unavailable: string }> {
  if (PYTHON.some((one) => one === name)) {
    const env = await ensurePythonEnv();
    return 'unavailable' in env ? env : `exec ${env.python} ${script('serve.py')} ${name}`;
  }
  const packages = Object.entries(JAVASCRIPT).find(([one]) => one === name)?.[1];
  if (packages === undefined) return { unavailable: 'no such middleware' };
  const judge = await ensureJudge(packages);
  if ('unavailable' in judge) return judge;
  const { folder } = judge;
  return `exec ${process.execPath} ${script('serve.mjs')} ${JSON.stringify(folder)} ${name}`;
}

async function tryOne(name: string): Promise<Row> {
  const command = await commandOf(name);
  if (typeof command !== 'string') return { name, report: null, text: command.unavailable };
  const port = await freePort();
  const route = (path: string) => ({ method: 'GET', path, body: null });
  try {
    const report = await runPayTest({
      target: `http://127.0.0.1:${port}`,
      start: `PORT=${port} ${command}`,
      routes: [route('/weather'), route('/forecast')],
      failingRoute: route('/broken'),
      facilitatorHost: '127.0.0.1',
      facilitatorPort: 0,
      variables: ['FACILITATOR_URL'],
      networks: [],
      only: null,
      findRoutes: async () => [],
      say: () => undefined,
    });
    return { name, report, text: '' };
  } catch (error) {
    return { name, report: null, text: error instanceof Error ? error.message : String(error) };
  }
}

/** Shows the worst status of all routes for this trial. */
function cellOf({ trials }: PayTestReport, id: string): string {
  const found = trials.filter((one) => one.id === id).map(({ status }) => status);
  const order: readonly TrialStatus[] = ['fail', 'warn', 'pass', 'not_run'];
  return MARKS[order.find((status) => found.includes(status)) ?? 'not_run'];
}

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : [...Object.keys(JAVASCRIPT), ...PYTHON];
const rows: Row[] = [];
for (const name of names) rows.push(await tryOne(name));
console.log(`| | ${TRIAL_IDS.join(' | ')} |\n|---|${TRIAL_IDS.map(() => '---|').join('')}`);
for (const { name, report, text } of rows) {
  const cells = report === null ? [text] : TRIAL_IDS.map((id) => cellOf(report, id));
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
for (const { name, report } of rows) {
  const open = report?.trials.filter(({ status }) => status === 'fail' || status === 'warn') ?? [];
  for (const { id, route, evidence } of open) console.log(`\n${name} ${id} ${route}: ${evidence}`);
}
