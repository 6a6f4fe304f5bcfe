/** Some transactions of the embedded store wait for the disk, and others do not. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LEDGER_STATES, type LedgerState } from '../../../src/service/store/payment-tables.ts';
import { Connection } from '../../../src/service/store/sqlite/database.ts';
import { MEMORY, openSchema, openSqliteTables } from '../../../src/service/store/sqlite/store.ts';
import { ledgerStep } from './contract/samples.ts';

/** Values of `PRAGMA synchronous`. */
const SYNCHRONOUS_NORMAL = 1;
const SYNCHRONOUS_FULL = 2;

test('an unsynced write does not wait for the disk, and the next write does, even if the unsynced write failed', () => {
  const connection = openConnection();
  connection.runUnsynced('INSERT INTO things VALUES (1)');
  expect(readSynchronous(connection)).toBe(SYNCHRONOUS_NORMAL);
  connection.run('INSERT INTO things VALUES (2)');
  expect(readSynchronous(connection)).toBe(SYNCHRONOUS_FULL);

  expect(() => connection.runUnsynced('INSERT INTO things VALUES (?)', 'no number')).toThrow(
    'store',
  );
  connection.run('INSERT INTO things VALUES (3)');
  expect(readSynchronous(connection)).toBe(SYNCHRONOUS_FULL);
  expect(connection.values('SELECT n FROM things')).toEqual([1, 2, 3]);

  connection.runUnsynced('INSERT INTO things VALUES (4)');
  connection.transaction(() => {
    connection.run('INSERT INTO things VALUES (3)');
    expect(readSynchronous(connection)).toBe(SYNCHRONOUS_FULL);
  });
});

test('a payment step waits for the disk, except the last step and the steps before money may move', async () => {
  const connection = new Connection(MEMORY, MEMORY);
  onTestFinished(() => connection.close());
  openSchema(connection);
  const { ledger } = openSqliteTables(connection);
  const syncedStates: LedgerState[] = [];
  for (const [step, state] of LEDGER_STATES.entries()) {
    const { scanId = null, answerId = null, ...fields } = ledgerStep('k', step + 1, state);
    const owner = { host: 'h', boot: 'b' };
    await ledger.insert({ ...fields, atMs: 1, owner, scanId, answerId, data: '{}' });
    if (readSynchronous(connection) === SYNCHRONOUS_FULL) syncedStates.push(state);
  }
  expect(syncedStates).toEqual(['settling', 'settled', 'released', 'failed', 'unknown']);
});

function openConnection(): Connection {
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

function readSynchronous(connection: Connection): unknown {
  return connection.value('PRAGMA synchronous');
}
