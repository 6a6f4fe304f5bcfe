/** What a scan adds to the round trips that it waits for, over HTTP/1.1 and over HTTP/2. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { warmUp } from '../../../src/scan/warm-up.ts';
import { type Engine, openEngine } from '../engine.ts';
import { type FarmOrder, startFarm } from '../farm/seller-farm.ts';
import { type BenchCase, type Measurement, median } from '../measurement.ts';

const ROUND_TRIP_MS = 80;
/** TCP and TLS 1.3 of the first connection; the others are opened beside its first request. */
const HANDSHAKES = 2;
const MANY_POSTS = 6;
const ANSWER_MS = 40;

/** One scan at a time of origins that are 80 ms away over TLS, delayed at the socket. */
const distance: BenchCase = async ({ isQuick }) => {
  const rounds = isQuick ? 1 : 15;
  const usual = await compare({}, rounds);
  const many = await compare({ posts: MANY_POSTS }, rounds);
  const busy = await compare({ answerMs: ANSWER_MS }, rounds);
  const { wallMs, roundTrips } = usual.http1;
  const waited = (roundTrips + HANDSHAKES) * ROUND_TRIP_MS;
  return [
    { what: 'one scan over TLS', value: wallMs, unit: 'ms', note: `${ROUND_TRIP_MS} ms away` },
    { what: 'its requests', value: roundTrips, unit: 'deep', note: `and ${HANDSHAKES} to open` },
    { what: 'of its round trips', value: wallMs / waited, unit: 'x', note: `${waited} ms` },
    ...rows('over HTTP/2', usual),
    ...rows(`${MANY_POSTS} POST resources, over HTTP/2`, many),
    ...rows(`${ANSWER_MS} ms for each answer, over HTTP/2`, busy),
  ];
};

export default distance;

type Cost = { readonly wallMs: number; readonly cpuMs: number; readonly roundTrips: number };
type Compared = { readonly http1: Cost; readonly http2: Cost };

function rows(what: string, { http1, http2 }: Compared): readonly Measurement[] {
  const over = (name: string, one: number) => `${Math.round(one)} ${name} over HTTP/1.1`;
  return [
    { what, value: http2.wallMs, unit: 'ms', note: over('ms', http1.wallMs) },
    { what: '  of that over HTTP/1.1', value: http2.wallMs / http1.wallMs, unit: 'x' },
    { what: '  its processor time', value: http2.cpuMs, unit: 'ms', note: over('ms', http1.cpuMs) },
    { what: '  of that over HTTP/1.1', value: http2.cpuMs / http1.cpuMs, unit: 'x' },
  ];
}

/** The same seller twice, in turns. */
async function compare(seller: Partial<FarmOrder>, rounds: number): Promise<Compared> {
  const order = { kind: 'distant', count: 1, delayMs: ROUND_TRIP_MS, ...seller } as const;
  await using plain = await startFarm(order);
  await using both = await startFarm({ ...order, http2: true });
  // As NODE_EXTRA_CA_CERTS would: a set of roots of its own costs each scan 12 ms.
  const roots = [plain.ca, both.ca].map((pem) => pem ?? '');
  setDefaultCACertificates([...getCACertificates('default'), ...roots]);
  const [http1 = '', http2 = ''] = [...plain.urls, ...both.urls];
  await using engine = await openEngine([http1, http2]);
  await warmUp(engine.parts);
  for (const url of [http1, http2]) await engine.scan(url);
  const taken = { http1: [] as Cost[], http2: [] as Cost[] };
  for (let n = 0; n < rounds; n += 1) {
    taken.http1.push(await costOf(engine, http1));
    taken.http2.push(await costOf(engine, http2));
  }
  return { http1: typical(taken.http1), http2: typical(taken.http2) };
}

async function costOf(engine: Engine, url: string): Promise<Cost> {
  const before = process.cpuUsage();
  const { report, timing } = await engine.scan(url);
  const { user, system } = process.cpuUsage(before);
  if (report.score < 90) throw new Error(`the distant seller got ${report.score}`);
  const cpuMs = (user + system) / 1_000;
  return { wallMs: timing.totalMs, cpuMs, roundTrips: timing.roundTrips };
}

function typical(costs: readonly Cost[]): Cost {
  return {
    wallMs: median(costs.map(({ wallMs }) => wallMs)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
    roundTrips: Math.max(...costs.map(({ roundTrips }) => roundTrips)),
  };
}
