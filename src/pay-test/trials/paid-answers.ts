import { notRun, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

/** T13: a shared cache must not hand a paid answer to others. */
export function caches({ paid }: RouteTester): TrialFinding {
  if (paid === null) return notRun('the seller gave no paid answer');
  const written = paid.headers['cache-control'] ?? '';
  const directives = written
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());
  const has = (name: string) =>
    directives.some((one) => one === name || one.startsWith(`${name}=`));
  const maxAge = directives.find((one) => /^max-age="?\d/.test(one))?.replace(/\D/g, '') ?? '0';
  const isOpen = has('public') || has('s-maxage') || (Number(maxAge) > 0 && !has('private'));
  const shown = written === '' ? 'no Cache-Control' : `Cache-Control: ${written}`;
  return { status: isOpen ? 'fail' : 'pass', evidence: `the paid ${paid.status} has ${shown}` };
}

/** T14: failed work must not be charged. */
export async function failedWork(tester: RouteTester): Promise<TrialFinding> {
  const { nonce, reply, description } = await tester.attempt();
  const evidence = `a good payment: ${description}`;
  const isSettled = tester.ledger.settled(nonce) !== null;
  if (reply.ok && reply.status < 500) {
    return notRun(`${evidence}: ${isSettled ? 'its handler works' : 'the handler did not fail'}`);
  }
  return { status: isSettled ? 'fail' : 'pass', evidence };
}
