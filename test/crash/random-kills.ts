/** A service that is killed at random points, life after life. */
import { type Dice, diceOf } from '../fixtures/dice.ts';
import { newPayer, type Payer } from '../service/payment/payer.ts';
import type { Payment } from './call.ts';
import { checkNothingElseSettled, checkPromises } from './promises.ts';
import { PRICE, type Rig } from './rig.ts';

const HOSTS = ['a.example.com', 'b.example.com', 'c.example.com'];
const PAYERS = 4;
const MAX_CALLS_A_LIFE = 6;
/** A paid call passes nine failpoints: most lives end in the middle of one. */
const MAX_POINTS_A_LIFE = 40;
const MAX_PATIENCE_MS = 400;

/**
 * So many lives: clients pay, come back, sign anew or hang up, the process dies at a random point of
 * it, and is started again. In the end every promise must hold of all that was ever sent.
 */
export async function playRandomKills(
  rig: Rig,
  options: { readonly kills: number; readonly seed: number; onKill?(n: number): void },
): Promise<void> {
  const dice = diceOf(options.seed);
  const payers = Array.from({ length: PAYERS }, () => newPayer());
  const sent: Payment[] = [];
  rig.record.loseEvery = 7;
  for (let kill = 1; kill <= options.kills; kill++) {
    await rig.arm({ name: 'any', n: 1 + dice.below(MAX_POINTS_A_LIFE) });
    const calls = Array.from({ length: 1 + dice.below(MAX_CALLS_A_LIFE) }, () =>
      oneCall(rig, dice, payers, sent),
    );
    await Promise.all(calls);
    // Not every life has passed that many points: it ends all the same.
    await rig.kill();
    await rig.start();
    options.onKill?.(kill);
  }
  rig.record.loseEvery = 0;
  await rig.quiet();
  await checkPromises(rig);
  checkNothingElseSettled(rig);
}

async function oneCall(rig: Rig, dice: Dice, payers: Payer[], sent: Payment[]): Promise<void> {
  const old = sent[dice.below(sent.length + 1)];
  const comesBack = dice.below(3) === 0;
  const hangsUpMs = dice.below(4) === 0 ? dice.below(MAX_PATIENCE_MS) : null;
  const payer = payers[dice.below(payers.length)];
  const host = HOSTS[dice.below(HOSTS.length)];
  if (payer === undefined || host === undefined) throw new Error('the dice rolled off the table');
  const payment =
    comesBack && old !== undefined
      ? old
      : { payer, host, signed: await payer.sign({ value: PRICE }) };
  if (payment !== old) sent.push(payment);
  const signal = hangsUpMs === null ? undefined : AbortSignal.timeout(hangsUpMs);
  await rig.scan(payment, payment.host, signal);
}
