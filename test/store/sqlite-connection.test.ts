/** Which transactions of the embedded store wait for the disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Connection } from '../../src/store/sqlite/connection.ts';

/** `PRAGMA synchronous`, as SQLite numbers it. */
const NORMAL = 1;
const FULL = 2;

test('a passing write does not wait for the disk, and the next one does, also after a failure', () => {
  const connection = opened();
  connection.runPassing('INSERT INTO things VALUES (1)');
  expect(synchronous(connection)).toBe(NORMAL);
  connection.run('INSERT INTO things VALUES (2)');
  expect(synchronous(connection)).toBe(FULL);

  expect(() => connection.runPassing('INSERT INTO things VALUES (?)', 'no number')).toThrow(
    'store',
  );
  connection.run('INSERT INTO things VALUES (3)');
  expect(synchronous(connection)).toBe(FULL);
  expect(connection.values('SELECT n FROM things')).toEqual([1, 2, 3]);

  connection.runPassing('INSERT INTO things VALUES (4)');
  connection.transaction(() => {
    connection.run('INSERT INTO things VALUES (3)');
    expect(synchronous(connection)).toBe(FULL);
  });
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
