import { cruise, format, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';

/** Names of rooms by the name of the room that may import them. */
type Floors = Readonly<Record<string, readonly string[]>>;

/**
 * The rooms that each room may import. A row names only rooms that it imports, and only rooms of earlier rows, so there
 * are no import cycles between rooms.
 */
const FLOORS: Floors = {
  model: [],
  errors: [],
  guard: ['model'],
  parse: ['model', 'guard'],
  environment: ['model', 'parse'],
  config: ['guard', 'parse', 'model', 'environment'],
  report: ['model', 'parse'],
  workers: ['model', 'parse'],
  answers: ['model', 'parse', 'workers'],
  store: ['model'],
  attestation: ['model'],
  keys: ['attestation', 'store'],
  engine: ['model', 'parse', 'workers'],
  patches: ['model', 'parse'],
  probe: ['model', 'guard', 'parse'],
  indexes: ['model', 'guard', 'parse', 'answers'],
  buyers: ['model', 'parse', 'workers', 'engine'],
  scan: [
    'model',
    'guard',
    'parse',
    'workers',
    'attestation',
    'engine',
    'probe',
    'indexes',
    'buyers',
  ],
  scans: ['model', 'errors', 'guard', 'parse', 'store', 'engine', 'probe', 'report', 'scan'],
  'pay-test': ['guard', 'parse'],
  preflight: ['model', 'guard', 'parse', 'engine', 'probe', 'buyers', 'scan'],
  payment: ['model', 'errors', 'parse', 'config', 'answers', 'store'],
  directory: ['model', 'errors', 'guard', 'store', 'scans'],
  turns: 'model errors guard store probe scans preflight directory'.split(' '),
  ownership: ['errors', 'guard', 'store', 'turns'],
  watch: 'model errors guard parse store probe scans directory turns ownership'.split(' '),
  census:
    'model errors guard config parse answers store probe indexes scan scans preflight turns'.split(
      ' ',
    ),
  mcp: ['model', 'report', 'parse', 'engine', 'preflight'],
  cli: 'model guard environment parse report attestation engine patches probe indexes buyers scan pay-test preflight mcp'.split(
    ' ',
  ),
  plugins: ['errors', 'guard', 'config', 'store', 'scan', 'payment', 'turns'],
  http: 'model errors keys guard config parse report store attestation engine patches probe scans preflight payment directory turns ownership watch mcp plugins'.split(
    ' ',
  ),
  service:
    'model keys guard environment config workers answers store engine probe indexes buyers scan scans preflight payment turns watch census http'.split(
      ' ',
    ),
};

/** Pattern of the folder of a room. The folder `plugins` is beside `src`. */
function toPathPattern(room: string): string {
  return room === 'plugins' ? '^plugins/' : `^src/${room}/`;
}

/** Rows that name their own room or one of a later row. */
function findUpwardRows(floors: Floors): string[] {
  const rooms = Object.keys(floors);
  return rooms.flatMap((room, index) =>
    (floors[room] ?? [])
      .filter((below) => !rooms.slice(0, index).includes(below))
      .map((below) => `FLOORS: ${room} names ${below}, which is not above it`),
  );
}

/** Rows that name a room of which their own room imports nothing. */
function findUnusedNames(floors: Floors, { modules }: ICruiseResult): string[] {
  return Object.entries(floors).flatMap(([room, names]) => {
    const own = modules.filter(({ source }) => new RegExp(toPathPattern(room)).test(source));
    const imported = own.flatMap(({ dependencies }) => dependencies.map((one) => one.resolved));
    return names
      .filter((below) => !imported.some((path) => new RegExp(toPathPattern(below)).test(path)))
      .map((below) => `FLOORS: ${room} names ${below}, and imports nothing of it: delete the name`);
  });
}

function listRoomRules(floors: Floors): IForbiddenRuleType[] {
  const rooms = Object.keys(floors);
  const rules = rooms.map((room): IForbiddenRuleType => {
    const below = floors[room] ?? [];
    return {
      name: `floor-${room}`,
      severity: 'error',
      comment: `src/${room} may import ${below.join(', ') || 'no other room'}: pass in what it needs.`,
      from: { path: toPathPattern(room) },
      to: {
        path: '^(src|plugins)/',
        pathNot: [room, ...below].map(toPathPattern),
      },
    };
  });
  return [
    ...rules,
    {
      name: 'room-without-a-floor',
      severity: 'error',
      comment: 'Give the new room a row in FLOORS (tools/lint/floors.ts).',
      from: { path: '^(src/[^/]+|plugins)/', pathNot: rooms.map(toPathPattern) },
      to: {},
    },
  ];
}

const RULES: readonly IForbiddenRuleType[] = [
  {
    name: 'main-starts-the-service',
    severity: 'error',
    comment: 'src/main.ts imports src/service and nothing else.',
    from: { path: '^src/main\\.ts$' },
    to: { path: '^(src|plugins)/', pathNot: '^src/service/' },
  },
  {
    name: 'checks-are-pure',
    severity: 'error',
    comment: 'A check imports #check and types: what it judges is in its arguments.',
    from: { path: '^checks/', pathNot: '/cases\\.ts$' },
    to: { path: '^(src|plugins)/', pathNot: '^src/(engine|model|parse)/' },
  },
  {
    name: 'checks-by-name',
    severity: 'error',
    comment: 'The catalog names the checks, and the engine loads them by that name.',
    from: { path: '^(src|plugins)/' },
    to: { path: '^checks/' },
  },
  {
    name: 'product-stands-alone',
    severity: 'error',
    comment: 'What the product needs lives in src/, plugins/ and checks/: move it there.',
    from: { path: '^(src|plugins|checks)/', pathNot: '/cases\\.ts$' },
    to: { path: '^(test|tools|demo|node_modules/(vitest|nock|tinypool)|ci)/' },
  },
  {
    name: 'fastify-in-its-rooms',
    severity: 'error',
    comment:
      'Rules stand under any web server: only src/http, plugins and src/service know Fastify.',
    from: { path: '^src/', pathNot: '^src/(http|service)/' },
    to: { path: '(^|/)node_modules/(@fastify/|fastify)' },
  },
  {
    name: 'no-circle',
    severity: 'error',
    comment: 'Two files that import each other are one concept: join them, or move what both need.',
    from: {},
    to: { circular: true },
  },
];

/** Returns the refused imports and rows of the checkout at `root` as text; empty if there are none. */
export async function findFloorBreaches(root: string, floors: Floors = FLOORS): Promise<string> {
  const upward = findUpwardRows(floors);
  if (upward.length > 0) return upward.join('\n');
  const { output } = await cruise(['src', 'plugins', 'checks'], {
    baseDir: root,
    ruleSet: { forbidden: [...listRoomRules(floors), ...RULES] },
    validate: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.d\\.ts$' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js', '.cjs', '.json'] },
  });
  if (typeof output === 'string') throw new TypeError('dependency-cruiser gave a text');
  const refused = await format(output, { outputType: 'err-long' });
  return [
    ...(refused.exitCode === 0 ? [] : [refused.output]),
    ...findUnusedNames(floors, output),
  ].join('\n');
}
