/** Compares the time of a scan with the round trips that it waits for. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
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
  const usual = await measure({}, rounds);
  const many = await measure({ posts: MANY_POSTS }, rounds);
  const busy = await measure({ answerMs: ANSWER_MS }, rounds);
  return [
    ...rows(`one scan over TLS, ${ROUND_TRIP_MS} ms away`, usual),
    ...rows(`${MANY_POSTS} POST resources`, many),
    ...rows(`${ANSWER_MS} ms for each answer`, busy),
  ];
};

export default distance;

type Cost = { readonly wallMs: number; readonly cpuMs: number; readonly roundTrips: number };

function rows(what: string, { wallMs, cpuMs, roundTrips }: Cost): readonly Measurement[] {
  const waited = (roundTrips + HANDSHAKES) * ROUND_TRIP_MS;
  return [
    { what, value: wallMs, unit: 'ms' },
    { what: '  its requests', value: roundTrips, unit: 'deep', note: `and ${HANDSHAKES} to open` },
    { what: '  of its round trips', value: wallMs / waited, unit: 'x', note: `${waited} ms` },
    { what: '  its processor time', value: cpuMs, unit: 'ms' },
  ];
}

async function measure(seller: Partial<FarmOrder>, rounds: number): Promise<Cost> {
  await using farm = await startFarm({
    kind: 'distant',
    count: 1,
    delayMs: ROUND_TRIP_MS,
    ...seller,
  });
  // NODE_EXTRA_CA_CERTS does the same. Own roots for each connection would cost each scan 12 ms.
  setDefaultCACertificates([...getCACertificates('default'), farm.ca ?? '']);
  const [url = ''] = farm.urls;
  await using engine = await openEngine([url]);
  await engine.warmUp();
  await engine.scan(url);
  const taken: Cost[] = [];
  for (let n = 0; n < rounds; n += 1) taken.push(await costOf(engine, url));
  return {
    wallMs: median(taken.map(({ wallMs }) => wallMs)),
    cpuMs: median(taken.map(({ cpuMs }) => cpuMs)),
    roundTrips: Math.max(...taken.map(({ roundTrips }) => roundTrips)),
  };
}

async function costOf(engine: Engine, url: string): Promise<Cost> {
  const before = process.cpuUsage();
  const { report, timing } = await engine.scan(url);
  const { user, system } = process.cpuUsage(before);
  if (report.score < 90) throw new Error(`the distant seller got ${report.score}`);
  const cpuMs = (user + system) / 1_000;
  return { wallMs: timing.totalMs, cpuMs, roundTrips: timing.roundTrips };
}
