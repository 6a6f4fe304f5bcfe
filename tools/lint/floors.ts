import { cruise, format, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';

/** Names of rooms by the name of the room that may import them. */
type Floors = Readonly<Record<string, readonly string[]>>;
type Wings = Readonly<Record<'scanner' | 'cli' | 'service', Floors>>;

/**
 * The wings of `src`, and the rooms that each of their rooms may import. A row names only rooms that it imports, and only
 * rooms of earlier rows, so there are no import cycles between rooms. The scanner knows no other wing; the command line
 * and the service know the scanner, and not each other.
 */
const WINGS: Wings = {
  scanner: {
    model: [],
    attestation: ['model'],
    guard: ['model'],
    parse: ['guard', 'model'],
    environment: ['model', 'parse'],
    patches: ['model', 'parse'],
    probe: ['guard', 'model', 'parse'],
    report: ['model', 'parse'],
    workers: ['model', 'parse'],
    engine: ['model', 'parse', 'workers'],
    'third-parties': ['model', 'parse', 'workers'],
    clients: ['engine', 'model', 'parse', 'workers'],
    indexes: ['guard', 'model', 'parse', 'third-parties'],
    scan: 'attestation clients engine guard indexes model parse probe workers'.split(' '),
    preflight: ['clients', 'engine', 'guard', 'model', 'parse', 'probe', 'scan'],
    mcp: ['engine', 'model', 'parse', 'preflight', 'report'],
  },
  cli: {
    'pay-test': ['guard', 'model', 'parse'],
    commands:
      'attestation clients engine environment guard indexes mcp model parse patches pay-test preflight probe report scan'.split(
        ' ',
      ),
  },
  service: {
    errors: [],
    store: ['model'],
    keys: ['attestation', 'store'],
    config: ['environment', 'guard', 'model', 'parse'],
    payment: ['config', 'errors', 'model', 'parse', 'store', 'third-parties'],
    scans: ['engine', 'errors', 'guard', 'model', 'parse', 'probe', 'report', 'scan', 'store'],
    directory: ['errors', 'guard', 'model', 'scans', 'store'],
    turns: ['directory', 'errors', 'guard', 'model', 'preflight', 'probe', 'scans', 'store'],
    census:
      'config errors guard indexes model parse preflight probe scan scans store third-parties turns'.split(
        ' ',
      ),
    ownership: ['errors', 'guard', 'store', 'turns'],
    plugins: ['config', 'errors', 'guard', 'payment', 'scan', 'store', 'turns'],
    watch: 'directory errors guard model ownership parse probe scans store turns'.split(' '),
    http: 'attestation config directory engine errors guard keys mcp model ownership parse patches payment plugins preflight probe report scans store turns watch'.split(
      ' ',
    ),
    start:
      'census clients config engine environment guard http indexes keys model payment preflight probe scan scans store third-parties turns watch workers'.split(
        ' ',
      ),
  },
};

/** Wings whose rooms a wing may name. */
const WINGS_BELOW: Readonly<Record<string, readonly string[]>> = {
  scanner: ['scanner'],
  cli: ['scanner', 'cli'],
  service: ['scanner', 'service'],
};

type Room = {
  readonly name: string;
  readonly wing: string;
  readonly below: readonly string[];
  /** Pattern of the paths of its files. */
  readonly path: string;
};

function listRooms(wings: Wings): readonly Room[] {
  return Object.entries(wings).flatMap(([wing, floors]) =>
    Object.entries(floors).map(([name, below]) => {
      return { name, wing, below, path: toPathPattern(wing, name) };
    }),
  );
}

function toPathPattern(wing: string, room: string): string {
  if (room === 'plugins') return '^plugins/';
  // The files of the command line stand in the wing's own folder.
  return room === 'commands' ? '^src/cli/(?!pay-test/)' : `^src/${wing}/${room}/`;
}

/** Rows that name a room of a wing that they may not know, their own room, or one of a later row. */
function findUpwardRows(rooms: readonly Room[]): string[] {
  return rooms.flatMap(({ name, wing, below }, index) =>
    below.flatMap((other) => {
      const roomBelow = rooms.slice(0, index).find((room) => room.name === other);
      if (roomBelow === undefined) return [`WINGS: ${name} names ${other}, which is not above it`];
      if (WINGS_BELOW[wing]?.includes(roomBelow.wing)) return [];
      return [`WINGS: ${name} names ${other}, and ${wing} may not know ${roomBelow.wing}`];
    }),
  );
}

/** Rows that name a room of which their own room imports nothing. */
function findUnusedNames(rooms: readonly Room[], { modules }: ICruiseResult): string[] {
  return rooms.flatMap(({ name, below, path }) => {
    const own = modules.filter(({ source }) => new RegExp(path).test(source));
    const imported = own.flatMap(({ dependencies }) => dependencies.map((one) => one.resolved));
    const isImported = (other: string) => {
      const pattern = new RegExp(rooms.find((room) => room.name === other)?.path ?? '$^');
      return imported.some((target) => pattern.test(target));
    };
    return below
      .filter((other) => !isImported(other))
      .map((other) => `WINGS: ${name} names ${other}, and imports nothing of it: delete the name`);
  });
}

function listRoomRules(rooms: readonly Room[]): IForbiddenRuleType[] {
  const rules = rooms.map(
    ({ name, below, path }): IForbiddenRuleType => ({
      name: `floor-${name}`,
      severity: 'error',
      comment: `${name} may import ${below.join(', ') || 'no other room'}: pass in what it needs.`,
      from: { path },
      to: {
        path: '^(src|plugins)/',
        pathNot: rooms
          .filter((room) => [name, ...below].includes(room.name))
          .map((room) => room.path),
      },
    }),
  );
  return [
    ...rules,
    {
      name: 'room-without-a-floor',
      severity: 'error',
      comment: 'Give the new room a row in WINGS (tools/lint/floors.ts).',
      from: { path: '^(src/[^/]+|plugins)/', pathNot: rooms.map(({ path }) => path) },
      to: {},
    },
  ];
}

const RULES: readonly IForbiddenRuleType[] = [
  {
    name: 'main-starts-the-service',
    severity: 'error',
    comment: 'src/main.ts imports src/service/start, and nothing else.',
    from: { path: '^src/main\\.ts$' },
    to: { path: '^(src|plugins)/', pathNot: '^src/service/start/' },
  },
  {
    name: 'checks-are-pure',
    severity: 'error',
    comment: 'A check imports #check and types: what it judges is in its arguments.',
    from: { path: '^checks/', pathNot: '/cases\\.ts$' },
    to: { path: '^(src|plugins)/', pathNot: '^src/scanner/(engine|model|parse)/' },
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
      'Rules stand under any web server: only src/service/http, plugins and src/service/start know Fastify.',
    from: { path: '^src/', pathNot: '^src/service/(http|start)/' },
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
export async function findFloorBreaches(root: string, wings: Wings = WINGS): Promise<string> {
  const rooms = listRooms(wings);
  const upward = findUpwardRows(rooms);
  if (upward.length > 0) return upward.join('\n');
  const { output } = await cruise(['src', 'plugins', 'checks'], {
    baseDir: root,
    ruleSet: { forbidden: [...listRoomRules(rooms), ...RULES] },
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
    ...findUnusedNames(rooms, output),
  ].join('\n');
}
