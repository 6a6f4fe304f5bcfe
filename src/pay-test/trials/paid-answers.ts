import { notRun, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';

/** T13: a shared cache must not give a paid answer to other callers. */
export function judgeCaching({ paidAnswer }: RouteTester): TrialFinding {
  if (paidAnswer === null) return notRun('the seller gave no paid answer');
  const header = paidAnswer.headers['cache-control'] ?? '';
  const directives = header
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
  const hasDirective = (name: string) =>
    directives.some((directive) => directive === name || directive.startsWith(`${name}=`));
  const maxAge =
    directives.find((directive) => /^max-age="?\d/.test(directive))?.replace(/\D/g, '') ?? '0';
  const isShareable =
    hasDirective('public') ||
    hasDirective('s-maxage') ||
    (Number(maxAge) > 0 && !hasDirective('private'));
  const headerText = header === '' ? 'no Cache-Control' : `Cache-Control: ${header}`;
  return {
    status: isShareable ? 'fail' : 'pass',
    evidence: `the paid ${paidAnswer.status} has ${headerText}`,
  };
}

/** T14: the seller must not settle if the handler failed. */
export async function tryFailedWork(tester: RouteTester): Promise<TrialFinding> {
  const { nonce, reply, description } = await tester.signAndSend();
  const evidence = `a good payment: ${description}`;
  const isSettled = tester.ledger.findSettlement(nonce) !== null;
  if (reply.ok && reply.status < 500) {
    return notRun(`${evidence}: ${isSettled ? 'the handler works' : 'the handler did not fail'}`);
  }
  return { status: isSettled ? 'fail' : 'pass', evidence };
}
