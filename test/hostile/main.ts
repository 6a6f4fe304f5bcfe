/** `npm run test:hostile [-- --rounds N] [--table FILE]`: the whole farm, and what it may cost. */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { judge, type Measured } from './bounds.ts';
import { measureCrowds } from './crowds.ts';
import { FARM } from './farm.ts';
import { WAITING_KINDS } from './farm-origin.ts';
import { measureHealth } from './health.ts';
import {
  type FarmProcess,
  type ScanProcess,
  startFarmProcess,
  startScanProcess,
} from './processes.ts';
import type { RoundTold, ScanTold } from './scan-process.ts';
import { withFarmTable } from './table.ts';

const AT_ONCE = 20;
const SMALL_HEAP = '--max-old-space-size=1024';

const { rounds, table } = readOptions();
if (table !== undefined) {
  const document = await readFile(table, 'utf8').catch(() => '');
  await writeFile(table, withFarmTable(document));
}

await using stack = new AsyncDisposableStack();
const farm = stack.adopt(await startFarmProcess(), (one) => one[Symbol.asyncDispose]());
const scanner = stack.adopt(await startScanProcess(), (one) => one[Symbol.asyncDispose]());
const own = [...farm.urls.map(([, url]) => url), ...farm.good];
const prompt = FARM.filter(({ kind }) => !WAITING_KINDS.has(kind)).map(({ name }) => urlOf(name));
const told: RoundTold[] = [];
const moved: string[] = [];

console.log(`${FARM.length} origins, each alone`);
const goodAlone = new Map<string, ScanTold>();
for (const url of farm.good) {
  const [scan] = (await play(scanner, [url])).scans;
  if (scan !== undefined) goodAlone.set(url, scan);
}
const wrong: string[] = [];
for (const { name } of FARM) wrong.push(...findingsMissed(await play(scanner, [urlOf(name)])));

console.log(`${AT_ONCE} at once, ${rounds} rounds`);
const twenty = FARM.filter(({ kind }) => kind === 'document' || kind === 'wire')
  .slice(-AT_ONCE)
  .map(({ name }) => urlOf(name));
const fresh = stack.adopt(await startScanProcess(), (one) => one[Symbol.asyncDispose]());
// Modules, heaps of workers and buffers are there from then on: that is what rest is.
const { rssMib: restMib } = await play(fresh, farm.good, { toRest: true });
const grown: number[] = [];
for (let round = 1; round <= rounds; round += 1) {
  const one = await play(fresh, twenty, { toRest: true });
  wrong.push(...findingsMissed(one));
  grown.push(one.rssMib - restMib);
  console.log(
    `  round ${round}: ${Math.round(one.rssMib)} MiB, at most ${Math.round(one.peakMib)}; at rest ${Math.round(restMib)}`,
  );
}

console.log(`all of them by ${AT_ONCE}, good origins among them`);
const names = FARM.map(({ name }) => name);
for (let first = 0; first < names.length; first += AT_ONCE) {
  const urls = names.slice(first, first + AT_ONCE).map(urlOf);
  const one = await play(fresh, [...urls, ...farm.good]);
  wrong.push(...findingsMissed(one));
  for (const scan of one.scans) {
    const alone = goodAlone.get(scan.url);
    if (alone !== undefined && alone.score !== scan.score) {
      const cells = scan.cells.filter((cell) => !alone.cells.includes(cell)).join(', ');
      moved.push(
        `a good origin: ${alone.score} alone, ${scan.score} among hostile ones (${cells})`,
      );
    }
  }
}

console.log(`${AT_ONCE} that are slow, by the clocks of earnest`);
const slow = FARM.filter(({ kind }) => kind === 'clock')
  .slice(0, AT_ONCE)
  .map(({ name }) => urlOf(name));
await play(fresh, slow, { fullClocks: true, toRest: true });

console.log(`${AT_ONCE} at once, in a process of a 1 GiB heap`);
const survivesSmallHeap = await survives();

console.log('64 hostile handshakes');
const health = await measureHealth();
console.log(`  ${health.handshakes} begun; at most ${Math.round(health.maxMs)} ms`);

console.log(
  '20 scans at once of wide letters, 20 of objects, 6 of gigabytes, 20 of 8 MiB of OpenAPI',
);
const crowds = await measureCrowds();

const measured: Measured = {
  wrong: [...new Set(wrong)],
  longestMs: Math.max(...told.flatMap(({ scans }) => scans.map(({ totalMs }) => totalMs))),
  firstRoundMib: grown[0] ?? 0,
  lastRoundMib: grown.at(-1) ?? 0,
  laterRoundsMib: (grown.at(-1) ?? 0) - (grown[1] ?? 0),
  delayP99Ms: Math.max(...told.map(({ delayP99Ms }) => delayP99Ms)),
  unhandled: told.flatMap(({ unhandled }) => unhandled),
  reachedInside: await farm.reachedInside(),
  outside: told.flatMap(({ outside }) => outside),
  moved,
  survivesSmallHeap,
  healthP99Ms: health.p99Ms,
  crowds,
};
process.exitCode = judge(measured) ? 0 : 1;

async function play(
  { play: ask }: ScanProcess,
  urls: readonly string[],
  { fullClocks = false, toRest = false } = {},
): Promise<RoundTold> {
  // A busy machine makes servers slow that do not mean to be, which is not a finding.
  const patient = fullClocks ? urls : [...farm.good, ...prompt];
  const one = await ask({ urls, ca: farm.ca, patient, own, toRest });
  told.push(one);
  return one;
}

async function survives(): Promise<boolean> {
  const small = await startScanProcess([SMALL_HEAP]);
  try {
    for (let first = 0; first < FARM.length; first += AT_ONCE) {
      await small.play({
        urls: names.slice(first, first + AT_ONCE).map(urlOf),
        ca: farm.ca,
        patient: [],
        own,
        toRest: false,
      });
    }
    return true;
  } catch {
    return false;
  } finally {
    await small[Symbol.asyncDispose]();
  }
}

function findingsMissed({ scans }: RoundTold): readonly string[] {
  return scans.flatMap(({ url, cells, failure }) => {
    const name = nameOf(farm, url);
    const origin = FARM.find((one) => one.name === name);
    if (origin === undefined || (cells.length === 25 && cells.includes(origin.finds))) return [];
    const id = `${origin.finds.split(' ')[0]} `;
    const seen = failure ?? cells.find((cell) => cell.startsWith(id)) ?? 'nothing';
    return [`${origin.name}: ${origin.finds} expected, ${seen}`];
  });
}

function nameOf({ urls }: FarmProcess, url: string): string | undefined {
  return urls.find(([, one]) => one === url)?.[0];
}

function urlOf(name: string): string {
  const found = farm.urls.find(([one]) => one === name);
  if (found === undefined) throw new Error(`the farm has no origin that ${name}`);
  return found[1];
}

/** Bad usage is one line, exit 2: nothing has been started yet. */
function readOptions(): { readonly rounds: number; readonly table: string | undefined } {
  try {
    const options = {
      rounds: { type: 'string', default: '10' },
      table: { type: 'string' },
    } as const;
    const { values } = parseArgs({ options });
    const wanted = Number(values.rounds);
    if (Number.isInteger(wanted) && wanted >= 2 && wanted <= 100) {
      return { rounds: wanted, table: values.table };
    }
    throw new Error(`--rounds is "${values.rounds}": give a number from 2 to 100`);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    console.error(`${said} (usage: npm run test:hostile -- [--rounds N] [--table FILE])`);
    process.exit(2);
  }
}
