/** Compares the cost of a run of the farm with its bounds. */
import type { Crowd, CrowdTold } from './crowds.ts';

export type Measured = {
  /** "S1 fail absent" expected, and what was found in its place. */
  readonly wrong: readonly string[];
  readonly longestMs: number;
  readonly firstRoundMib: number;
  readonly lastRoundMib: number;
  readonly laterRoundsMib: number;
  readonly delayP99Ms: number;
  readonly unhandled: readonly string[];
  /** Connections that the internal service got. */
  readonly reachedInside: number;
  /** Connections that were attempted to any server but those of the farm. */
  readonly outside: readonly string[];
  readonly moved: readonly string[];
  readonly survivesSmallHeap: boolean;
  readonly healthP99Ms: number;
  readonly crowds: Readonly<Record<Crowd, CrowdTold>>;
};

type Bound = {
  readonly what: string;
  readonly most: number;
  readonly unit: string;
  value(measured: Measured): number;
};

const BOUNDS: readonly Bound[] = [
  { what: 'origins without their finding', most: 0, unit: '', value: ({ wrong }) => wrong.length },
  { what: 'longest scan', most: 75_000, unit: 'ms', value: ({ longestMs }) => longestMs },
  {
    what: 'memory after one round, over rest',
    most: 256,
    unit: 'MiB',
    value: (m) => m.firstRoundMib,
  },
  {
    what: 'memory after the last round, over rest',
    most: 256 + 32,
    unit: 'MiB',
    value: (m) => m.lastRoundMib,
  },
  {
    what: 'memory after the last round, over the second',
    most: 32,
    unit: 'MiB',
    value: (m) => m.laterRoundsMib,
  },
  { what: 'delay of the event loop, p99', most: 200, unit: 'ms', value: (m) => m.delayP99Ms },
  { what: 'unhandled errors', most: 0, unit: '', value: ({ unhandled }) => unhandled.length },
  {
    what: 'sockets to blocked addresses',
    most: 0,
    unit: '',
    value: (m) => m.reachedInside + m.outside.length,
  },
  { what: 'grades of good origins moved', most: 0, unit: '', value: ({ moved }) => moved.length },
  {
    what: 'processes of a 1 GiB heap that ended',
    most: 0,
    unit: '',
    value: (m) => (m.survivesSmallHeap ? 0 : 1),
  },
  {
    what: '/health under 64 hostile handshakes, p99',
    most: 250,
    unit: 'ms',
    value: (m) => m.healthP99Ms,
  },
  ...crowdBounds('20 scans at once of 2 MiB in wide letters', (m) => m.crowds.wide),
  ...crowdBounds('20 scans at once of 2 MiB of JSON objects', (m) => m.crowds.objects),
  ...crowdBounds('6 scans at once of gigabytes, packed', (m) => m.crowds.packed),
  ...crowdBounds('20 scans at once of 8 MiB of OpenAPI', (m) => m.crowds.large),
];

function crowdBounds(who: string, told: (measured: Measured) => CrowdTold): readonly Bound[] {
  return [
    {
      what: `${who}: memory after them, over rest`,
      most: 256,
      unit: 'MiB',
      value: (m) => told(m).overRestMib,
    },
    { what: `${who}: event loop, p99`, most: 200, unit: 'ms', value: (m) => told(m).delayP99Ms },
    { what: `${who}: /health, p99`, most: 250, unit: 'ms', value: (m) => told(m).healthP99Ms },
  ];
}

/** Prints each bound; true if all are held. */
export function judge(measured: Measured): boolean {
  let isHeld = true;
  for (const { what, most, unit, value } of BOUNDS) {
    const seen = Math.round(value(measured));
    const holds = seen <= most;
    isHeld &&= holds;
    console.log(`${holds ? 'ok    ' : 'MISSED'} ${what}: ${seen} ${unit} (at most ${most})`);
  }
  for (const line of [
    ...measured.wrong,
    ...measured.unhandled,
    ...measured.outside,
    ...measured.moved,
  ]) {
    console.log(`       ${line}`);
  }
  return isHeld;
}
