import { isDeepStrictEqual } from 'node:util';
import { REFUSED, type TestFacilitator } from '../facilitator.ts';
import { toMembers } from '../judge-payment.ts';
import type { FacilitatorCall } from '../ledger.ts';
import type { Payment } from '../payer.ts';
import { notRun, type TrialFinding } from '../result.ts';
import type { RouteTester } from '../route-tester.ts';
import type { SellerReply } from '../seller-client.ts';

export const ONLY_VERSION_2 = 'the seller speaks version 1, and this is of version 2';
/** The outcome of a payment, and the step of the facilitator that refuses it. */
const ANSWERS = [
  ['a good payment', null],
  ['verify refuses', 'verify'],
  ['settle refuses', 'settle'],
] as const;

/** T15: the facilitator gets what an index lists: resource and bazaar extension of the challenge. */
export function listsItself({ first, ledger }: RouteTester): TrialFinding {
  if (first === null) return notRun('no good payment to look at');
  if (first.version === 1) return notRun(ONLY_VERSION_2);
  if ((first.required['resource'] ?? null) === null) return notRun('the challenge has no resource');
  const calls = ledger.calls(first.nonce);
  if (calls.length === 0) return notRun('the facilitator was asked nothing');
  const faults = [...new Set(calls.flatMap((call) => findDropped(first, call)))];
  if (faults.length > 0) return { status: 'warn', evidence: faults.join('; ') };
  const steps = [...new Set(calls.map(({ step }) => step))].join(' and ');
  return { status: 'pass', evidence: `${steps} got the resource and the extensions` };
}

function findDropped({ required }: Payment, { step, payload }: FacilitatorCall): readonly string[] {
  const faults: string[] = [];
  const { resource = null } = payload;
  if (resource === null) faults.push(`${step} got no paymentPayload.resource`);
  else if (!isDeepStrictEqual(resource, required['resource'])) {
    faults.push(`${step} got another paymentPayload.resource than the challenge has`);
  }
  const { bazaar: declared } = toMembers(required['extensions']);
  const { bazaar } = toMembers(payload['extensions']);
  if (declared === undefined) return faults;
  if (bazaar === undefined) faults.push(`${step} got no paymentPayload.extensions.bazaar`);
  else if (!isDeepStrictEqual(toMembers(bazaar)['info'], toMembers(declared)['info'])) {
    faults.push(`${step} got another info in paymentPayload.extensions.bazaar`);
  }
  return faults;
}

/** T16: the buyer reads why verify refused the payment. */
export async function saysWhy(tester: RouteTester): Promise<TrialFinding> {
  const misbehaviour = { step: 'verify', fault: 'refuse' } as const;
  const { version, reply, isDelivered, description } = await tester.attempt({}, misbehaviour);
  const said = `verify said ${REFUSED}: ${description}`;
  if (isDelivered) return notRun(`${said}: it delivers, see T3`);
  const error = tester.readError(reply, version);
  if (error === null) return { status: 'warn', evidence: `${said}: no 402 with a challenge` };
  const isTold = error.includes(REFUSED);
  const words = isTold ? 'names the reason' : `is ${JSON.stringify(error.slice(0, 100))}`;
  return {
    status: isTold ? 'pass' : 'warn',
    evidence: `${said}, and the challenge's error ${words}`,
  };
}

/** T18: EXTENSION-RESPONSES is for the seller, and stays there. */
export async function keepsToItself(tester: RouteTester): Promise<TrialFinding> {
  const { version } = await tester.challenge();
  if (version === 1) return notRun(ONLY_VERSION_2);
  const { facilitator } = tester;
  const notes: string[] = [];
  let isLeaked = false;
  for (const [name, refusing] of ANSWERS) {
    const payment = await tester.pay();
    facilitator.extendAnswers(payment.nonce);
    if (refusing !== null) facilitator.misbehave(refusing, payment.nonce, 'refuse');
    const attempt = await tester.send(payment);
    const isHere = isPassedOn(attempt.reply, facilitator);
    isLeaked ||= isHere;
    notes.push(`${name}: ${attempt.description}${isHere ? ', with EXTENSION-RESPONSES' : ''}`);
  }
  return { status: isLeaked ? 'warn' : 'pass', evidence: notes.join('; ') };
}

/** True for the header, and for its content in another header or in the body. */
function isPassedOn(reply: SellerReply, { mark, extensionResponses }: TestFacilitator): boolean {
  if (!reply.ok) return false;
  const texts = [...Object.values(reply.headers), reply.body.toString('utf8')];
  const decoded = texts.map((text) => Buffer.from(text, 'base64').toString('utf8'));
  const holds = (text: string) => text.includes(mark) || text.includes(extensionResponses);
  return reply.headers['extension-responses'] !== undefined || [...texts, ...decoded].some(holds);
}
