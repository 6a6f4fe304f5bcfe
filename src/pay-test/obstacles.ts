/** What stands between a pay-test and a payment for a route. */
import { notPaid, type TrialFinding } from './result.ts';
import { NoChallenge, type RouteTester } from './route-tester.ts';

/** A route that cannot be paid is a trial that did not run. */
export async function runOrSkip(trial: () => Promise<TrialFinding>): Promise<TrialFinding> {
  return catchNoChallenge(trial, ({ message }) => notPaid(message));
}

/** Resolves to null if the route can be paid. */
export async function findObstacle(tester: RouteTester): Promise<NoChallenge | null> {
  return catchNoChallenge(
    () => tester.fetchChallenge().then(() => null),
    (obstacle) => obstacle,
  );
}

/** Finds a route with a lower price, preferably in the same asset. */
export async function findCheaperRoute(
  tester: RouteTester,
  testers: readonly RouteTester[],
): Promise<RouteTester | null> {
  const ownPrice = await findPrice(tester);
  if (ownPrice === null) return null;
  const others = await Promise.all(
    testers.map(async (other) => ({ other, price: await findPrice(other) })),
  );
  const cheaper = others.filter(({ price }) => price !== null && price.amount < ownPrice.amount);
  const sameAsset = cheaper.find(({ price }) => price?.asset === ownPrice.asset);
  return (sameAsset ?? cheaper[0])?.other ?? null;
}

async function findPrice(tester: RouteTester): Promise<{ amount: bigint; asset: string } | null> {
  return catchNoChallenge(
    async () => {
      const { network, asset, amount } = (await tester.fetchChallenge()).terms;
      if (!/^\d{1,78}$/.test(amount)) return null;
      return { amount: BigInt(amount), asset: `${network} ${asset.toLowerCase()}` };
    },
    () => null,
  );
}

/** Catches only NoChallenge. */
async function catchNoChallenge<T, U>(
  work: () => Promise<T>,
  onNoChallenge: (error: NoChallenge) => U,
) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoChallenge) return onNoChallenge(error);
    throw error;
  }
}
