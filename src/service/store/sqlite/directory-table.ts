import type { Connection } from './database.ts';

/** The columns by which lists filter and sort. */
const COLUMNS = [
  ...['host', 'category', 'grade', 'score', '"scannedAtMs"', '"firstSeenAtMs"'],
  ...['"payableUntilMs"', '"payableWeekDays"', '"confirmedAtMs"'],
];
const COLUMN_LIST = COLUMNS.join(', ');

/**
 * The hosts that lists show: their owner has not opted out, they have answered a scan, and the operator has not
 * excluded them from the census that ordered their scan.
 */
const VIEW = `CREATE VIEW directory_now AS
  SELECT r.host, r.category, r.grade, r.score, r."scannedAtMs", r."firstSeenAtMs",
      r."payableUntilMs", r."payableWeekDays", o."confirmedAtMs"
    FROM records r LEFT JOIN owners o ON o.n = (SELECT max(n) FROM owners WHERE host = r.host)
    WHERE r.reached IS NOT 0 AND o.listed IS NOT 0 AND NOT (r."paidBy" IS 'census'
      AND EXISTS (SELECT 1 FROM census c WHERE c.host = r.host AND c."excludedAtMs" IS NOT NULL));`;

/** The id must be a column. The rows of the hosts' trigrams name it, and VACUUM renumbers implicit row ids. */
const TABLE = `CREATE TABLE directory (id INTEGER PRIMARY KEY, host TEXT NOT NULL UNIQUE,
    category TEXT NOT NULL, grade TEXT NOT NULL, score INTEGER NOT NULL,
    "scannedAtMs" INTEGER NOT NULL, "firstSeenAtMs" INTEGER NOT NULL,
    "payableUntilMs" INTEGER, "payableWeekDays" TEXT, "confirmedAtMs" INTEGER) STRICT;`;

/** Each index has all columns of a filter, so that SQLite counts and lists hosts without a look-up of their rows. */
const FILTERED = `category, grade, "payableUntilMs", "payableWeekDays", "confirmedAtMs"`;
const INDEXES = `
  CREATE INDEX directory_by_time ON directory ("scannedAtMs" DESC, host, ${FILTERED});
  CREATE INDEX directory_by_first_scan ON directory ("firstSeenAtMs" DESC, host, ${FILTERED});
  CREATE INDEX directory_by_grade ON directory (grade, score DESC, "scannedAtMs" DESC, host,
    category, "payableUntilMs", "payableWeekDays", "confirmedAtMs");
  CREATE INDEX directory_by_category ON directory (category, grade, "payableUntilMs", host);
  CREATE INDEX directory_by_category_and_time ON directory (category, "scannedAtMs" DESC, host,
    grade, "payableUntilMs", "payableWeekDays", "confirmedAtMs");
  CREATE INDEX directory_by_payable ON directory ("payableUntilMs")
    WHERE "payableUntilMs" IS NOT NULL;
  CREATE INDEX directory_by_proof ON directory ("confirmedAtMs", category, grade, host, score,
    "scannedAtMs", "firstSeenAtMs", "payableUntilMs", "payableWeekDays")
    WHERE "confirmedAtMs" IS NOT NULL;`;

/** Searches of three and more letters find hosts by their trigrams. */
const TRIGRAMS = `CREATE VIRTUAL TABLE directory_hosts USING fts5 (letters,
    tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1);
  CREATE TRIGGER directory_hosts_insert AFTER INSERT ON directory BEGIN
    INSERT INTO directory_hosts (rowid, letters) VALUES (new.id, new.host);
  END;
  CREATE TRIGGER directory_hosts_delete AFTER DELETE ON directory BEGIN
    DELETE FROM directory_hosts WHERE rowid = old.id;
  END;`;

/** SQL of the letters, and pairs of letters, that a host has. */
const listLetters = (host: string) => `WITH RECURSIVE positions (n) AS (VALUES (1)
      UNION ALL SELECT n + 1 FROM positions WHERE n < length(${host}))
    SELECT substr(${host}, n, 1) AS letters FROM positions
    UNION SELECT substr(${host}, n, 2) FROM positions`;

/** Numbers of hosts. A shorter search has no trigram, and most hosts match it. */
const LETTERS = `CREATE TABLE directory_letters (letters TEXT PRIMARY KEY, hosts INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE TRIGGER directory_letters_insert AFTER INSERT ON directory BEGIN
    INSERT INTO directory_letters SELECT letters, 1 FROM (${listLetters('new.host')}) WHERE TRUE
      ON CONFLICT DO UPDATE SET hosts = hosts + 1;
  END;
  CREATE TRIGGER directory_letters_delete AFTER DELETE ON directory BEGIN
    UPDATE directory_letters SET hosts = hosts - 1 WHERE letters IN (${listLetters('old.host')});
  END;`;

const ADD_TO_WEEK = `INSERT INTO directory_weeks
    SELECT new."payableWeekDays", new.category, new.grade, 1 WHERE new."payableWeekDays" IS NOT NULL
    ON CONFLICT DO UPDATE SET hosts = hosts + 1;`;
const IS_OLD_WEEK = `"payableWeekDays" = old."payableWeekDays" AND category = old.category
    AND grade = old.grade`;
const TAKE_FROM_WEEK = `UPDATE directory_weeks SET hosts = hosts - 1 WHERE ${IS_OLD_WEEK};
    DELETE FROM directory_weeks WHERE ${IS_OLD_WEEK} AND hosts = 0;`;

/** Numbers of hosts. No index finds the hosts of a week, because each has a text with several days. */
const WEEKS = `CREATE TABLE directory_weeks ("payableWeekDays" TEXT NOT NULL, category TEXT NOT NULL,
    grade TEXT NOT NULL, hosts INTEGER NOT NULL,
    PRIMARY KEY ("payableWeekDays", category, grade)) STRICT, WITHOUT ROWID;
  CREATE TRIGGER directory_weeks_insert AFTER INSERT ON directory BEGIN ${ADD_TO_WEEK} END;
  CREATE TRIGGER directory_weeks_delete AFTER DELETE ON directory BEGIN ${TAKE_FROM_WEEK} END;
  CREATE TRIGGER directory_weeks_update AFTER UPDATE ON directory
    WHEN (new."payableWeekDays", new.category, new.grade)
      IS NOT (old."payableWeekDays", old.category, old.grade)
    BEGIN ${TAKE_FROM_WEEK} ${ADD_TO_WEEK} END;`;

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

/** An upsert keeps the id of a host, so that a new scan of it changes no trigrams. */
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

/** Lists of older programs read these indexes. */
const OLD_INDEXES = [
  ...['records_by_time', 'records_by_grade', 'records_by_category', 'records_by_first_scan'],
  ...['records_by_category_and_time', 'records_never_reached'],
];

/**
 * Creates and fills the table `directory`, which has a row for each host that lists show. Triggers write the row in
 * the transaction that writes a record, a wish of an owner or an exclusion. Call it in a transaction. A program that
 * changes these statements must give the table another name, because an existing table is kept.
 */
export function openDirectoryTable(connection: Connection): void {
  connection.exec(OLD_INDEXES.map((index) => `DROP INDEX IF EXISTS ${index};`).join('\n'));
  if (connection.value(`SELECT 1 FROM sqlite_schema WHERE name = 'directory'`) !== null) return;
  connection.exec([VIEW, TABLE, INDEXES, TRIGRAMS, LETTERS, WEEKS, TRIGGERS].join('\n'));
  connection.exec(
    `INSERT INTO directory (${COLUMN_LIST}) SELECT ${COLUMN_LIST} FROM directory_now`,
  );
}
