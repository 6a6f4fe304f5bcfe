import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllowHosts, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { createOwnerWatches } from '../../../src/service/watch/owner-watches.ts';
import { diceOf } from '../../fixtures/dice.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';
import { FAST, HOST, TIME_SCALE } from './kill-settings.ts';
import { type Receiver, startReceiver, verifySignature } from './receiver.ts';

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
const MAX_STEPS_A_LIFE = 12;
/** A receiver gets 60 events a minute: what waits after many lives takes some. */
const QUIET_WITHIN_MS = 600_000;

export type KillOptions = {
  readonly storeUrl: string;
  readonly instances: number;
  readonly kills: number;
  readonly seed: number;
  onKill?(n: number): void;
};

/**
 * Instances look at one seller whose price changes. The rig kills them at random steps and starts them again. In
 * the end every change that a look saw must have arrived, in order, each under one id.
 */
export async function playKills(options: KillOptions): Promise<{ readonly events: number }> {
  await using undo = new AsyncDisposableStack();
  const receiver = await startReceiver();
  undo.use(receiver);
  const world = await startWorld();
  undo.use(world);
  const secret = await startWatch(options.storeUrl, receiver);
  const dice = diceOf(options.seed);
  const begin = (killAt: number) => startChild(options.storeUrl, receiver, world.url, killAt);
  const lives = await Promise.all(
    Array.from({ length: options.instances }, () => begin(1 + dice.below(MAX_STEPS_A_LIFE))),
  );
  undo.defer(async () => {
    await Promise.all(lives.map(end));
  });
  for (let kill = 1; kill <= options.kills; kill += 1) {
    world.price += 1 + dice.below(9);
    const at = dice.below(lives.length);
    const life = lives[at];
    if (life === undefined) throw new Error('the dice rolled off the table');
    await died(life, () => {
      world.price += 1;
    });
    lives[at] = await begin(kill === options.kills ? 0 : 1 + dice.below(MAX_STEPS_A_LIFE));
    options.onKill?.(kill);
  }
  // The others may still be about to die: the last lives are not.
  await Promise.all(lives.map(end));
  for (const at of lives.keys()) lives[at] = await begin(0);
  world.price += 1;
  const last = String(world.price);
  const endMs = Date.now() + QUIET_WITHIN_MS;
  while (lastAmount(receiver) !== last) {
    if (Date.now() > endMs) throw new Error(`the last change did not arrive: ${last}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { events: checkPromises(receiver, secret) };
}

/** Each id once and in order, but for tries of the last one; each event begins where the one before ended. */
function checkPromises({ received }: Receiver, secret: string): number {
  const order: string[] = [];
  let amount: string | null = null;
  for (const one of received) {
    verifySignature(secret, one);
    if (order.includes(one.id)) {
      if (one.id !== order.at(-1)) throw new Error(`${one.id} came again after a later event`);
      continue;
    }
    order.push(one.id);
    if (one.type !== 'terms.changed') continue;
    const before = amountOf(one.event.data['before']);
    if (amount !== null && before !== amount) {
      throw new Error(`an event is missing: ${amount} became ${before}`);
    }
    amount = amountOf(one.event.data['after']);
  }
  return order.length;
}

function lastAmount({ received }: Receiver): string | null {
  const last = received.findLast(({ type }) => type === 'terms.changed');
  return last === undefined ? null : amountOf(last.event.data['after']);
}

function amountOf(terms: unknown): string {
  return (terms as { offers: { amount: string }[] }).offers[0]?.amount ?? '';
}

async function startWatch(storeUrl: string, receiver: Receiver): Promise<string> {
  const store = await openStore(storeUrl, { timeScale: TIME_SCALE });
  const policy = { allowedPorts: [443], allowHosts: parseAllowHosts(receiver.host) };
  const desk = createOwnerWatches({
    store,
    policy,
    siteUrl: 'https://scanner.example',
    isRateLimited: true,
    timing: FAST,
  });
  const client = { key: 'client', block: 'block' };
  const token = { tokenHash: 'token', keyHash: 'key', client: client.key, block: client.block };
  await store.ownership.recordConfirm(HOST, token);
  const { secret } = await desk.create(parseOrigin(HOST), client, { webhook: receiver.url });
  await store.close();
  return secret;
}

async function startChild(
  storeUrl: string,
  receiver: Receiver,
  worldUrl: string,
  killAt: number,
): Promise<ChildProcess> {
  const child = fork(CHILD, [], {
    env: {
      ...process.env,
      NODE_ENV: 'test',
      STORE_URL: storeUrl,
      ALLOW: receiver.host,
      WORLD: worldUrl,
      KILL_AT: String(killAt),
      NODE_COMPILE_CACHE: join(tmpdir(), 'x402-watch-compile-cache'),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [said] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (said !== 'ready') throw new Error(`the child ended with ${said} before it was ready`);
  return child;
}

/** Resolves when the child has died of its step; `poke` gives it something to tell meanwhile. */
async function died(child: ChildProcess, poke: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const poking = setInterval(poke, 300);
  await once(child, 'exit').finally(() => clearInterval(poking));
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** A seller's price, for the children to see. */
async function startWorld() {
  const world = { price: 1_000 };
  const server = createServer((_request, response) => void response.end(String(world.price)));
  const local = await listenLocally(server);
  return Object.assign(world, local, { url: `${local.url}/` });
}
