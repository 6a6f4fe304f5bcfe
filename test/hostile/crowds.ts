import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { OPENAPI_ALTERNATES } from '../../src/scanner/probe/first-wave.ts';
import { readMetric } from '../bench/measured-instance.ts';
import type { CraftedAnswer } from '../fixtures/origins/crafted-answer.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { forkScript } from '../fixtures/service/forked-script.ts';
import { type InstanceProcess, startInstance } from '../hosts/instance-process.ts';
import { newPurchase } from '../hosts/purchase.ts';

const MIB = 1_048_576;
const OPENAPI_BYTES = 2 * MIB - 1_024;
const WIDE = 20;
const PACKED = 6;
const EVERY_MS = 10;
/** Time for threads to end their tasks. */
const SETTLE_MS = 2_000;

/** One letter beyond Latin-1 makes a text of two bytes a character. */
const wide = (): CraftedAnswer => json(Buffer.from(`界${'a'.repeat(OPENAPI_BYTES - 3)}`));
/** The same text as JSON that is no OpenAPI: only the whole of it shows that. */
const objects = (): CraftedAnswer =>
  json(Buffer.from(`{"a":"界${'a'.repeat(OPENAPI_BYTES - 16)}"}`));
/** Members of 64 MiB in a row: 2 GiB that travel as 2 MiB. */
const packed = (): CraftedAnswer => {
  const member = gzipSync(Buffer.alloc(64 * MIB, ' '));
  return json(Buffer.concat(Array.from({ length: 32 }, () => member)), {
    'content-encoding': 'gzip',
  });
};
/** As many operations as the limit of values allows, in 8 MiB. */
const large = (): CraftedAnswer => {
  const operation = { summary: 'x', security: [], responses: { '200': { description: 'ok' } } };
  const paths = Object.fromEntries(
    Array.from({ length: 40_000 }, (_, i) => [`/${i}`, { get: operation }]),
  );
  const document = { openapi: '3.1.0', info: { title: 'Large', version: '1' }, paths };
  const length = JSON.stringify(document).length;
  const description = 'x'.repeat(8 * MIB - length - 1_024);
  return json(Buffer.from(JSON.stringify({ ...document, 'x-note': description })));
};
const ANSWERS: Readonly<Record<Kind, () => Readonly<Record<string, CraftedAnswer>>>> = {
  honest: () => ({}),
  wide: () => atEachOpenApiPath(wide()),
  objects: () => atEachOpenApiPath(objects()),
  packed: () => ({ '*': packed() }),
  large: () => ({ '/openapi.json': large() }),
};

function atEachOpenApiPath(answer: CraftedAnswer) {
  return Object.fromEntries(['/openapi.json', ...OPENAPI_ALTERNATES].map((at) => [at, answer]));
}

function json(body: Buffer, headers: Readonly<Record<string, string>> = {}): CraftedAnswer {
  return { status: 200, headers: { 'content-type': 'application/json', ...headers }, body };
}

type Kind = 'honest' | 'wide' | 'objects' | 'packed' | 'large';

export type Crowd = Exclude<Kind, 'honest'>;

export type CrowdTold = {
  readonly overRestMib: number;
  readonly delayP99Ms: number;
  readonly healthP99Ms: number;
};

/** Rest is what scans of as many honest sellers leave: modules, threads and heaps are there from then on. */
export async function measureCrowds(): Promise<Readonly<Record<Crowd, CrowdTold>>> {
  return {
    wide: await measureCrowd('wide', WIDE),
    objects: await measureCrowd('objects', WIDE),
    packed: await measureCrowd('packed', PACKED),
    large: await measureCrowd('large', WIDE),
  };
}

export async function measureCrowd(kind: Kind, count: number): Promise<CrowdTold> {
  await using honest = await startSellers('honest', count);
  await using hostile = await startSellers(kind, count);
  const instance = await startInstance({
    SCAN_ALLOW_HOSTS: [...honest.urls, ...hostile.urls].map((url) => new URL(url).host).join(','),
    STORE_URL: 'sqlite::memory:',
    RATE_LIMIT: 'off',
  });
  try {
    await buyAll(instance, honest.urls);
    await pause(SETTLE_MS);
    const restMib = rssMib(instance);
    await delayP99Ms(instance);
    const watching = watch(instance);
    const refused = await buyAll(instance, hostile.urls);
    const { peakMib, healthP99Ms } = await watching.end();
    const delayMs = await delayP99Ms(instance);
    await pause(SETTLE_MS);
    const overRestMib = rssMib(instance) - restMib;
    console.log(
      `  ${kind}: at most ${Math.round(peakMib - restMib)} MiB over rest meanwhile, ${refused} without room`,
    );
    return { overRestMib, delayP99Ms: delayMs, healthP99Ms };
  } catch (error) {
    throw new Error(`the service said: ${instance.err()}`, { cause: error });
  } finally {
    await instance.kill();
  }
}

/** Returns the number of scans that ended with the 503 that says that there was no room. */
async function buyAll(instance: InstanceProcess, urls: readonly string[]): Promise<number> {
  let refused = 0;
  const signed = await Promise.all(urls.map(() => newPurchase('scan')));
  await Promise.all(
    urls.map(async (url, at) => {
      const { status, body } = await instance.post('/v1/scan', { url }, signed[at]?.headers);
      // Without room for its documents, a scan ends as ours: nobody is charged.
      const hasNoRoom = status === 503 && JSON.parse(body).charged === false;
      if (hasNoRoom) refused += 1;
      else if (status !== 200) throw new Error(`a paid scan answered ${status}: ${body}`);
    }),
  );
  return refused;
}

/** Asks for /health again and again. */
export function watch(instance: InstanceProcess) {
  const waits: number[] = [];
  let peakMib = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      await instance.get('/health');
      waits.push(performance.now() - startMs);
      peakMib = Math.max(peakMib, rssMib(instance));
      await pause(EVERY_MS);
    }
  })();
  return {
    async end() {
      isOver = true;
      await asking;
      waits.sort((a, b) => a - b);
      const healthP99Ms = waits[Math.floor(waits.length * 0.99)] ?? 0;
      return { peakMib, healthP99Ms, healthMaxMs: waits.at(-1) ?? 0 };
    },
  };
}

function rssMib({ pid }: InstanceProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** Since it was asked last. */
async function delayP99Ms(instance: InstanceProcess): Promise<number> {
  return (await readMetric(instance, 'nodejs_eventloop_lag_p99_seconds')) * 1_000;
}

/** In a process of their own. */
async function startSellers(kind: Kind, count: number) {
  const script = fileURLToPath(import.meta.url);
  const { message: urls, ...forked } = await forkScript<string[]>(script, [kind, String(count)]);
  return { ...forked, urls };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await serve(process.argv[2] as Kind, Number(process.argv[3])); // as `startSellers` forks it
}

async function serve(kind: Kind, count: number): Promise<void> {
  const answers = ANSWERS[kind]();
  const urls: string[] = [];
  for (let index = 0; index < count; index += 1) {
    urls.push((await startCraftedSeller({ answers })).url);
  }
  process.on('disconnect', () => process.exit());
  process.send?.(urls);
}
