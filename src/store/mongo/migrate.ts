import type { Db } from 'mongodb';
import { joinId } from '../shared/table.ts';
import { upsert } from './error.ts';

type Stored = { readonly _id: string } & Readonly<Record<string, unknown>>;

/**
 * Migrates schema 1 or 2 to schema 3. Several instances may run it at once, and a migration that broke off may be run
 * again: each derives the same new rows from the old ones, and removes the old ones last.
 */
export async function migrate(database: Db): Promise<void> {
  const collection = (name: string) => database.collection<Stored>(name);
  await collection('records').updateMany({ reached: null }, { $set: { reached: true } });
  await collection('changes').updateMany({ hidden: null }, { $set: { hidden: false } });
  await migrateOwners(database);
  await migrateAnswers(database);
  for await (const { _id } of collection('snapshots').find({ source: null })) {
    // Schema 1 had source and key of a snapshot in its id alone.
    const [source, key]: readonly unknown[] = JSON.parse(_id);
    await collection('snapshots').updateOne({ _id }, { $set: { source, key } });
  }
  const identifiers = collection('identifiers');
  for await (const link of identifiers.find()) {
    const _id = joinId(String(link['scope']), Number(link['n']));
    if (_id === link._id) continue;
    const { _id: old, ...members } = link;
    await upsert(() => identifiers.replaceOne({ _id }, members, { upsert: true }));
    await identifiers.deleteOne({ _id: old });
  }
  for (const name of ['listing', 'confirms', 'versions', 'counts', 'verdicts']) {
    await collection(name).deleteMany({});
  }
}

async function migrateAnswers(database: Db): Promise<void> {
  const answers = database.collection<Stored>('answers');
  for await (const { _id, manifest } of answers.find({ manifest: { $ne: null } })) {
    if (typeof manifest !== 'object') continue;
    const flat: Readonly<Record<string, unknown>> = { ...manifest };
    const storedBytes = flat['storedBytes'] ?? flat['bodyBytes'];
    await answers.updateOne({ _id }, { $set: { ...flat, storedBytes, manifest: null } });
  }
  const results = database.collection<Stored>('results');
  for await (const { _id, scannedAtMs, report } of results.find({ report: { $ne: null } })) {
    const row = { scannedAtMs, report: Buffer.from(String(report)) };
    const reports = database.collection<Stored>('reports');
    await upsert(() => reports.updateOne({ _id }, { $setOnInsert: row }, { upsert: true }));
    await results.updateOne({ _id }, { $unset: { report: '' } });
  }
}

async function migrateOwners(database: Db): Promise<void> {
  const listing = await database.collection<Stored>('listing').find().toArray();
  const confirms = await database.collection<Stored>('confirms').find().toArray();
  const hosts = new Set([...listing.map((row) => row['host']), ...confirms.map((row) => row._id)]);
  for (const [index, host] of [...hosts].toSorted().entries()) {
    const setting = (name: string) =>
      listing.find((row) => row['setting'] === name && row['host'] === host);
    const [listed, hidden] = [setting('listed'), setting('enrichmentSuppressed')];
    const confirm = confirms.find((row) => row._id === host);
    const n = index + 1;
    const row = {
      n,
      attempt: host,
      host,
      atMs: listed?.['atMs'] ?? hidden?.['atMs'] ?? confirm?.['atMs'],
      listed: listed?.['value'] ?? true,
      listedBy: listed?.['keyedBy'] ?? null,
      enrichmentSuppressed: hidden?.['value'] ?? false,
      suppressedBy: hidden?.['keyedBy'] ?? null,
      confirmedAtMs: confirm?.['atMs'] ?? null,
      tokenHash: confirm?.['tokenHash'] ?? null,
      keyHash: confirm?.['keyHash'] ?? null,
      client: confirm?.['client'] ?? null,
    };
    const owners = database.collection<Stored>('owners');
    const update = { $setOnInsert: row };
    await upsert(() => owners.updateOne({ _id: String(n) }, update, { upsert: true }));
  }
}
