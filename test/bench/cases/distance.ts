/** What a scan adds to the round trips that it waits for. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { warmUp } from '../../../src/scan/warm-up.ts';
import { openEngine } from '../engine.ts';
import { startFarm } from '../farm/seller-farm.ts';
import { type BenchCase, median } from '../measurement.ts';

const ROUND_TRIP_MS = 80;
/** TCP and TLS 1.3 of the first connection; the others are opened beside its first request. */
const HANDSHAKES = 2;

/** One scan at a time of an origin that is 80 ms away over TLS, delayed at the socket. */
const distance: BenchCase = async ({ isQuick }) => {
  await using farm = await startFarm({ kind: 'distant', count: 1, delayMs: ROUND_TRIP_MS });
  // As NODE_EXTRA_CA_CERTS would: a set of roots of its own costs each scan 12 ms.
  setDefaultCACertificates([...getCACertificates('default'), farm.ca ?? '']);
  await using engine = await openEngine(farm.urls);
  await warmUp(engine.parts);
  const [url = ''] = farm.urls;
  await engine.scan(url);
  const walls: number[] = [];
  let roundTrips = 0;
  for (let n = 0; n < (isQuick ? 1 : 15); n += 1) {
    const { report, timing } = await engine.scan(url);
    if (report.score < 90) throw new Error(`the distant seller got ${report.score}`);
    walls.push(timing.totalMs);
    roundTrips = Math.max(roundTrips, timing.roundTrips);
  }
  const waited = (roundTrips + HANDSHAKES) * ROUND_TRIP_MS;
  const wall = median(walls);
  return [
    { what: 'one scan over TLS', value: wall, unit: 'ms', note: `${ROUND_TRIP_MS} ms away` },
    { what: 'its requests', value: roundTrips, unit: 'deep', note: `and ${HANDSHAKES} to open` },
    { what: 'of its round trips', value: wall / waited, unit: 'x', note: `${waited} ms` },
  ];
};

export default distance;
