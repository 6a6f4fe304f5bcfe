import { cruise, type IForbiddenRuleType } from 'dependency-cruiser';

/**
 * The rooms that each room may import. A row may name rooms of earlier rows only, so there are no import
 * cycles between rooms.
 */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  model: [],
  errors: [],
  guard: ['model'],
  parse: ['model', 'guard'],
  config: ['model', 'guard', 'parse'],
  report: ['model', 'parse'],
  workers: ['model', 'parse'],
  answers: ['model', 'parse', 'workers'],
  store: ['model'],
  attestation: ['model'],
  keys: ['attestation', 'store'],
  engine: ['model', 'parse', 'workers'],
  patches: ['model', 'parse'],
  probe: ['model', 'guard', 'parse', 'workers'],
  indexes: ['model', 'guard', 'config', 'parse', 'answers'],
  buyers: ['model', 'guard', 'parse', 'workers', 'engine'],
  scan: [
    'model',
    'errors',
    'guard',
    'config',
    'parse',
    'workers',
    'store',
    'attestation',
    'engine',
    'probe',
    'indexes',
    'buyers',
    'report',
  ],
  'pay-test': ['model', 'guard', 'parse'],
  preflight: ['model', 'guard', 'parse', 'workers', 'engine', 'probe', 'buyers', 'scan'],
  payment: ['model', 'errors', 'guard', 'parse', 'config', 'answers', 'store'],
  directory: ['model', 'errors', 'guard', 'parse', 'store', 'scan'],
  limits: ['model', 'guard', 'store', 'probe', 'preflight', 'directory'],
  ownership: ['model', 'errors', 'guard', 'store', 'limits'],
  looks: 'model errors guard parse store engine probe buyers scan preflight limits'.split(' '),
  watch: 'model errors guard parse store scan preflight directory limits ownership looks'.split(
    ' ',
  ),
  census:
    'model errors guard config parse answers store engine probe indexes scan preflight limits looks'.split(
      ' ',
    ),
  mcp: ['model', 'report', 'guard', 'parse', 'engine', 'buyers', 'scan', 'preflight', 'patches'],
  cli: 'model guard config parse report workers attestation engine patches probe indexes buyers scan pay-test preflight mcp'.split(
    ' ',
  ),
  plugins: ['model', 'errors', 'guard', 'config', 'store', 'scan', 'payment', 'limits'],
  http: 'model errors keys guard config parse report store attestation engine patches probe buyers scan preflight payment directory limits ownership looks watch mcp plugins'.split(
    ' ',
  ),
  service:
    'model errors keys guard config parse report workers answers store attestation engine patches probe indexes buyers scan preflight payment directory limits ownership looks watch census mcp plugins http'.split(
      ' ',
    ),
};

const ROOMS = Object.keys(FLOORS);

/** Pattern of the folder of a room. The folder `plugins` is beside `src`. */
function toPathPattern(room: string): string {
  return room === 'plugins' ? '^plugins/' : `^src/${room}/`;
}

/** Rows that name their own room or one of a later row. */
function findUpwardRows(): string[] {
  return ROOMS.flatMap((room, index) =>
    (FLOORS[room] ?? [])
      .filter((below) => !ROOMS.slice(0, index).includes(below))
      .map((below) => `FLOORS: ${room} names ${below}, which is not above it`),
  );
}

const ROOM_RULES = ROOMS.map((room): IForbiddenRuleType => {
  const below = FLOORS[room] ?? [];
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

const RULES: readonly IForbiddenRuleType[] = [
  ...ROOM_RULES,
  {
    name: 'room-without-a-floor',
    severity: 'error',
    comment: 'Give the new room a row in FLOORS (tools/lint/floors.ts).',
    from: { path: '^(src/[^/]+|plugins)/', pathNot: ROOMS.map(toPathPattern) },
    to: {},
  },
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

/** Returns the refused imports of the checkout at `root` as text; empty if there are none. */
export async function findFloorBreaches(root: string): Promise<string> {
  const upward = findUpwardRows();
  if (upward.length > 0) return upward.join('\n');
  const { output, exitCode } = await cruise(['src', 'plugins', 'checks'], {
    baseDir: root,
    ruleSet: { forbidden: [...RULES] },
    validate: true,
    outputType: 'err-long',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.d\\.ts$' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js', '.cjs', '.json'] },
  });
  return exitCode === 0 ? '' : String(output);
}
