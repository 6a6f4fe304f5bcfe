/** A server that speaks the MongoDB protocol, for the store's tests and those of several hosts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MongoClient } from 'mongodb';
import { buildServer } from './build-server.ts';

export interface MongoServer {
  /** Names a database of this server's own, empty at the start. */
  uri: string;
  /** Absent where MONGODB_URI names the server: it is not ours to kill. */
  process?: ServerProcess;
  /** Stops what was started and removes the data. */
  stop(): Promise<void>;
}

export interface ServerProcess {
  /** SIGKILL: no flush, no goodbye. The data stays. */
  kill(): Promise<void>;
  /** After `kill`: the same data on the same port, so that `uri` holds. */
  restart(): Promise<void>;
}

/**
 * A database on `MONGODB_URI`, or else on a server that is built with Go and started on a temporary
 * folder. Where neither can be had it says what is lacking, or throws if REQUIRE_MONGODB=1.
 */
export async function startMongoServer(): Promise<MongoServer | { unavailable: string }> {
  const given = process.env['MONGODB_URI'];
  if (given !== undefined && given !== '') return databaseOn(given);

  const built = await buildServer();
  if ('path' in built) return startOwn(built.path);
  if (process.env['REQUIRE_MONGODB'] === '1') {
    throw new Error(`REQUIRE_MONGODB=1, but there is ${built.unavailable}`);
  }
  return built;
}

function databaseOn(given: string): MongoServer {
  const [, server, query] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(given) ?? [];
  if (server === undefined) throw new Error('MONGODB_URI must look like mongodb://host:port/');
  const uri = `${server}/x402_test_${randomBytes(6).toString('hex')}${query ?? ''}`;
  return {
    uri,
    async stop() {
      const client = new MongoClient(uri);
      await client.db().dropDatabase();
      await client.close();
    },
  };
}

async function startOwn(path: string): Promise<MongoServer> {
  const data = await mkdtemp(join(tmpdir(), 'mongo-server-'));
  let { child, host } = await spawnServer(path, data, '127.0.0.1:0');

  return {
    uri: `mongodb://${host}/scanner`,
    process: {
      kill: () => end(child),
      async restart() {
        await end(child);
        ({ child, host } = await spawnServer(path, data, host));
      },
    },
    async stop() {
      await end(child);
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function spawnServer(path: string, data: string, listen: string) {
  // It ends when this pipe closes, and so cannot outlive a run that is killed.
  const child = spawn(path, ['-listen', listen, '-data', data], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const host = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, listening] = /^listening mongodb:\/\/([^/]+)\//.exec(line) ?? [];
      if (listening !== undefined) resolve(listening);
    });
    child.once('error', reject);
    child.once('exit', () => {
      reject(new Error(`the MongoDB server ended before it listened: ${said.join(' ')}`));
    });
  });
  return { child, host };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
