import type { Bench } from '../bench.ts';
import { describeReply } from '../replies.ts';
import type { Finding } from '../result.ts';

/** T13: no cache may keep for others what one has paid for. */
export function caches({ paid }: Bench): Finding {
  if (paid === null) return { status: 'not_run', evidence: 'no paid answer to look at' };
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

/** T14: work that failed is not to be paid for. */
export async function failedWork(bench: Bench): Promise<Finding> {
  const payment = await bench.pay();
  const reply = await bench.send(payment);
  const asked = bench.ledger.describe(payment.nonce);
  const evidence = `a good payment: ${describeReply(reply)}, ${asked}`;
  const isSettled = bench.ledger.settled(payment.nonce) !== null;
  if (reply.ok && reply.status < 500 && !isSettled) {
    return { status: 'not_run', evidence: `${evidence}: the handler did not fail` };
  }
  if (reply.ok && reply.status < 500) {
    return { status: 'not_run', evidence: `${evidence}: its handler works` };
  }
  return { status: isSettled ? 'fail' : 'pass', evidence };
}
