/** Some transactions of the embedded store wait for the disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LEDGER_STATES, type LedgerState } from '../../src/store/payment-tables.ts';
import { Connection, MEMORY } from '../../src/store/sqlite/connection.ts';
import { openSchema } from '../../src/store/sqlite/schema.ts';
import { sqliteTables } from '../../src/store/sqlite/store.ts';
import { ledgerStep } from './contract/samples.ts';

/** `PRAGMA synchronous`, as SQLite numbers it. */
const NORMAL = 1;
const FULL = 2;

test('an unsynced write does not wait for the disk, and the next one does, also after a failure', () => {
  const connection = opened();
  connection.runUnsynced('INSERT INTO things VALUES (1)');
  expect(synchronous(connection)).toBe(NORMAL);
  connection.run('INSERT INTO things VALUES (2)');
  expect(synchronous(connection)).toBe(FULL);

  expect(() => connection.runUnsynced('INSERT INTO things VALUES (?)', 'no number')).toThrow(
    'store',
  );
  connection.run('INSERT INTO things VALUES (3)');
  expect(synchronous(connection)).toBe(FULL);
  expect(connection.values('SELECT n FROM things')).toEqual([1, 2, 3]);

  connection.runUnsynced('INSERT INTO things VALUES (4)');
  connection.transaction(() => {
    connection.run('INSERT INTO things VALUES (3)');
    expect(synchronous(connection)).toBe(FULL);
  });
});

test('each step waits for the disk, except the last and those before money may move', async () => {
  const connection = new Connection(MEMORY, MEMORY);
  onTestFinished(() => connection.close());
  openSchema(connection);
  const { ledger } = sqliteTables(connection);
  const synced: LedgerState[] = [];
  for (const [step, state] of LEDGER_STATES.entries()) {
    const { scanId = null, answerId = null, ...named } = ledgerStep('k', step + 1, state);
    const owner = { host: 'h', boot: 'b' };
    await ledger.insert({ ...named, atMs: 1, owner, scanId, answerId, data: '{}' });
    if (synchronous(connection) === FULL) synced.push(state);
  }
  expect(synced).toEqual(['settling', 'settled', 'released', 'failed', 'unknown']);
});

function opened(): Connection {
  const folder = mkdtempSync(join(tmpdir(), 'connection-'));
  const connection = new Connection(join(folder, 'things.db'), 'things.db');
  onTestFinished(() => {
    connection.close();
    rmSync(folder, { recursive: true });
  });
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  connection.exec('CREATE TABLE things (n INTEGER) STRICT');
  return connection;
}

function synchronous(connection: Connection): unknown {
  return connection.value('PRAGMA synchronous');
}
