import type { Connection } from './database.ts';

/** The columns by which lists filter and sort. */
const COLUMN_LIST = `host, category, grade, score, "scannedAtMs", "firstSeenAtMs",
  "payableUntilMs", "payableWeekDays", "confirmedAtMs"`;
const COLUMNS = COLUMN_LIST.split(/,\s+/);

/** The hosts that lists show: not opted out, reached by a scan, and not excluded from the census that scanned them. */
const VIEW = `CREATE VIEW directory_now AS
  SELECT r.host, r.category, r.grade, r.score, r."scannedAtMs", r."firstSeenAtMs",
      r."payableUntilMs", r."payableWeekDays", o."confirmedAtMs"
    FROM records r LEFT JOIN owners o ON o.n = (SELECT max(n) FROM owners WHERE host = r.host)
    WHERE r.reached IS NOT 0 AND o.listed IS NOT 0 AND NOT (r."paidBy" IS 'census'
      AND EXISTS (SELECT 1 FROM census c WHERE c.host = r.host AND c."excludedAtMs" IS NOT NULL));`;

/** The id must be a column. The suffixes name it, and VACUUM renumbers implicit row ids. */
const TABLE = `CREATE TABLE directory (id INTEGER PRIMARY KEY, host TEXT NOT NULL UNIQUE,
    category TEXT NOT NULL, grade TEXT NOT NULL, score INTEGER NOT NULL,
    "scannedAtMs" INTEGER NOT NULL, "firstSeenAtMs" INTEGER NOT NULL,
    "payableUntilMs" INTEGER, "payableWeekDays" TEXT, "confirmedAtMs" INTEGER) STRICT;`;

/** SQLite counts hosts, and reads ordered pages, by the entries of an index without a look-up of their rows. */
const FILTERED = `category, grade, "payableUntilMs", "payableWeekDays", "confirmedAtMs"`;
const INDEXES = `
  CREATE INDEX directory_by_time ON directory ("scannedAtMs" DESC, host, ${FILTERED});
  CREATE INDEX directory_by_first_scan ON directory ("firstSeenAtMs" DESC, host, ${FILTERED});
  CREATE INDEX directory_by_grade ON directory (grade, score DESC, "scannedAtMs" DESC, host,
    category, "payableUntilMs", "payableWeekDays", "confirmedAtMs");
  CREATE INDEX directory_by_category_and_time ON directory (category, "scannedAtMs" DESC, host,
    grade, "payableUntilMs", "payableWeekDays", "confirmedAtMs");
  CREATE INDEX directory_by_payable ON directory ("payableUntilMs", host)
    WHERE "payableUntilMs" IS NOT NULL;
  CREATE INDEX directory_by_payable_and_grade ON directory (grade, "payableUntilMs", host)
    WHERE "payableUntilMs" IS NOT NULL;
  CREATE INDEX directory_by_payable_and_category ON directory (category, "payableUntilMs", grade,
    host) WHERE "payableUntilMs" IS NOT NULL;
  CREATE INDEX directory_by_proof ON directory ("confirmedAtMs", category, grade, host, score,
    "scannedAtMs", "firstSeenAtMs", "payableUntilMs", "payableWeekDays")
    WHERE "confirmedAtMs" IS NOT NULL;`;

/** SQL of the numbers from 1 to the length of a host. */
const listPositions = (host: string) => `WITH RECURSIVE positions (n) AS (VALUES (1)
    UNION ALL SELECT n + 1 FROM positions WHERE n < length(${host}))`;

/** SQL of the suffixes of a host. The first `repeated` letters of a suffix also occur earlier in the host. */
const listSuffixes = (host: string) => `${listPositions(host)}
  SELECT substr(${host}, positions.n) AS suffix, (
      SELECT coalesce(max(lengths.n), 0) FROM positions AS lengths
      WHERE lengths.n <= length(${host}) - positions.n + 1
        AND instr(${host}, substr(${host}, positions.n, lengths.n)) < positions.n) AS repeated
    FROM positions`;

/**
 * A search reads the suffixes that begin with its text, and skips those whose `repeated` is as long as the text or
 * longer: an earlier suffix of the host has matched already.
 */
const SUFFIXES = `CREATE TABLE directory_suffixes (suffix TEXT NOT NULL, id INTEGER NOT NULL,
    repeated INTEGER NOT NULL, category TEXT NOT NULL, grade TEXT NOT NULL,
    "payableUntilMs" INTEGER, "payableWeekDays" TEXT,
    PRIMARY KEY (suffix, id)) STRICT, WITHOUT ROWID;
  CREATE TRIGGER directory_suffixes_insert AFTER INSERT ON directory BEGIN
    INSERT INTO directory_suffixes SELECT suffix, new.id, repeated, new.category, new.grade,
      new."payableUntilMs", new."payableWeekDays" FROM (${listSuffixes('new.host')});
  END;
  CREATE TRIGGER directory_suffixes_delete AFTER DELETE ON directory BEGIN
    DELETE FROM directory_suffixes
      WHERE id = old.id AND suffix IN (SELECT suffix FROM (${listSuffixes('old.host')}));
  END;
  CREATE TRIGGER directory_suffixes_update AFTER UPDATE ON directory
    WHEN (new.category, new.grade, new."payableUntilMs", new."payableWeekDays")
      IS NOT (old.category, old.grade, old."payableUntilMs", old."payableWeekDays") BEGIN
    UPDATE directory_suffixes SET category = new.category, grade = new.grade,
        "payableUntilMs" = new."payableUntilMs", "payableWeekDays" = new."payableWeekDays"
      WHERE id = new.id AND suffix IN (SELECT suffix FROM (${listSuffixes('new.host')}));
  END;`;

/** SQL of the empty text and of the letters of a host, each once. */
const listLetters = (host: string) => `${listPositions(host)}
  SELECT '' AS letter UNION SELECT substr(${host}, n, 1) FROM positions`;

const ADD_TO_COUNTS = `INSERT INTO directory_counts
    SELECT letter, new.category, new.grade, coalesce(new."payableWeekDays", ''), 1
      FROM (${listLetters('new.host')}) WHERE TRUE
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;`;
const IS_OLD_COUNT = `letter IN (SELECT letter FROM (${listLetters('old.host')}))
    AND category = old.category AND grade = old.grade
    AND "payableWeekDays" = coalesce(old."payableWeekDays", '')`;
const TAKE_FROM_COUNTS = `UPDATE directory_counts SET hosts = hosts - 1 WHERE ${IS_OLD_COUNT};
    DELETE FROM directory_counts WHERE ${IS_OLD_COUNT} AND hosts = 0;`;

/**
 * Numbers of hosts that contain a letter, and of all hosts under the empty text. Without them, a search of one letter
 * would read most hosts, and a filter by week all: no index finds one day within `payableWeekDays`.
 */
const COUNTS = `CREATE TABLE directory_counts (letter TEXT NOT NULL, category TEXT NOT NULL,
    grade TEXT NOT NULL, "payableWeekDays" TEXT NOT NULL, hosts INTEGER NOT NULL,
    PRIMARY KEY (letter, category, grade, "payableWeekDays")) STRICT, WITHOUT ROWID;
  CREATE TRIGGER directory_counts_insert AFTER INSERT ON directory BEGIN ${ADD_TO_COUNTS} END;
  CREATE TRIGGER directory_counts_delete AFTER DELETE ON directory BEGIN ${TAKE_FROM_COUNTS} END;
  CREATE TRIGGER directory_counts_update AFTER UPDATE ON directory
    WHEN (new.category, new.grade, new."payableWeekDays")
      IS NOT (old.category, old.grade, old."payableWeekDays")
    BEGIN ${TAKE_FROM_COUNTS} ${ADD_TO_COUNTS} END;`;

/** The statements that change what the view shows of a host. */
const CHANGES = [
  { name: 'records_insert', event: 'INSERT ON records', row: 'new' },
  { name: 'records_update', event: 'UPDATE ON records', row: 'new' },
  { name: 'records_delete', event: 'DELETE ON records', row: 'old' },
  { name: 'owners_insert', event: 'INSERT ON owners', row: 'new' },
  { name: 'owners_delete', event: 'DELETE ON owners', row: 'old' },
  { name: 'census_update', event: 'UPDATE OF "excludedAtMs" ON census', row: 'new' },
  { name: 'census_delete', event: 'DELETE ON census', row: 'old' },
];

/** An upsert keeps the id of a host, so that a new scan of it rewrites no suffixes. */
const TRIGGERS = CHANGES.map(
  ({ name, event, row }) => `CREATE TRIGGER directory_${name} AFTER ${event} BEGIN
    DELETE FROM directory WHERE host = ${row}.host
      AND NOT EXISTS (SELECT 1 FROM directory_now WHERE host = ${row}.host);
    INSERT INTO directory (${COLUMN_LIST})
      SELECT ${COLUMN_LIST} FROM directory_now WHERE host = ${row}.host
      ON CONFLICT (host) DO UPDATE SET
        ${COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')};
  END;`,
).join('\n');

/** Lists of older programs read these indexes of `records`. */
const OLD_INDEXES = [
  'records_by_time',
  'records_by_grade',
  'records_by_category',
  'records_by_first_scan',
  'records_by_category_and_time',
  'records_never_reached',
];

/** An older program made some of these, with other contents. The table comes last, after what depends on it. */
const OLD_OBJECTS = [
  ...CHANGES.map(({ name }) => `TRIGGER IF EXISTS directory_${name}`),
  'TABLE IF EXISTS directory_hosts',
  'TABLE IF EXISTS directory_letters',
  'TABLE IF EXISTS directory_weeks',
  'VIEW IF EXISTS directory_now',
  'TABLE IF EXISTS directory',
];

/**
 * Creates and fills the table `directory`, which has a row for each host that lists show. Triggers write the row in
 * the transaction that writes a record, a wish of an owner or an exclusion. Call it in a transaction. A program that
 * changes these statements must rename `directory_suffixes`, because existing tables are kept if there is such a table.
 */
export function openDirectoryTable(connection: Connection): void {
  connection.exec(OLD_INDEXES.map((index) => `DROP INDEX IF EXISTS ${index};`).join('\n'));
  const isMade = `SELECT 1 FROM sqlite_schema WHERE name = 'directory_suffixes'`;
  if (connection.value(isMade) !== null) return;
  connection.exec(OLD_OBJECTS.map((object) => `DROP ${object};`).join('\n'));
  connection.exec([VIEW, TABLE, INDEXES, SUFFIXES, COUNTS, TRIGGERS].join('\n'));
  connection.exec(
    `INSERT INTO directory (${COLUMN_LIST}) SELECT ${COLUMN_LIST} FROM directory_now`,
  );
}
