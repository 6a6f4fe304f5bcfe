import type { x402HTTPClient } from '@x402/core/client';
import type { HttpData } from '../model/observation.ts';
import {
  type OfferPayability,
  type OfferVerdict,
  type PayableBy,
  REFUSED_WHOLE_PREFIX,
  SIGNED_UNSOUND_PREFIX,
} from '../model/payability.ts';
import { showJson } from '../parse/json/json.ts';
import { escapeInvisible } from '../parse/text/text.ts';
import {
  type Challenge,
  findRefusedMember,
  type Offer,
  readChallenge,
} from '../parse/x402/challenge.ts';
import { classifyNetwork, findClaimedNamespace } from '../parse/x402/networks.ts';
import { showFault } from '../parse/x402/offer-fault.ts';
import { findOfferFaults } from '../parse/x402/offer-faults.ts';
import { findClient, findSchemeRow, isPaidMethod } from '../parse/x402/schemes.ts';
import type { Buyers } from './buyers.ts';
import { type ChallengeAnswer, MAX_OFFERS, offerTerms } from './list-challenges.ts';

export type Trial = {
  readonly payableBy: PayableBy;
  readonly words: string | null;
  readonly offers: readonly OfferPayability[];
};

type PaymentRequired = ReturnType<x402HTTPClient['getPaymentRequiredResponse']>;
type PaymentPayload = Awaited<ReturnType<x402HTTPClient['createPaymentPayload']>>;
type Answer =
  | { readonly kind: 'signs'; readonly payload: PaymentPayload }
  | { readonly kind: 'refuses'; readonly words: string };

const MAX_WORDS = 200;
const LONG_HEAD = 'Node refuses a response head over 16 KiB, Python reads it';
const OTHER_METHOD = 'signs by another transfer method than the one that the offer names';

/** Pure but for keys and clocks: equal challenges get equal answers from the same packages. */
export async function tryChallenge(answer: ChallengeAnswer, buyers: Buyers): Promise<Trial> {
  const { challenge } = readChallenge({ ...NO_ANSWER, ...answer });
  if (challenge === null) return { payableBy: 'nobody', words: 'no challenge', offers: [] };
  const offers: OfferPayability[] = [];
  for (const offer of challenge.offers.slice(0, MAX_OFFERS)) {
    offers.push(await tryOffer(offer, challenge, buyers));
  }
  return { ...(await tryWhole(answer, challenge, offers, buyers)), offers };
}

const NO_ANSWER: HttpData = {
  url: '',
  method: 'GET',
  status: 402,
  headers: [],
  body: '',
  firstByteMs: 0,
  redirects: [],
};

/** Tries all offers together, because the client chooses among them: one can hide or break the others. */
async function tryWhole(
  response: ChallengeAnswer,
  challenge: Challenge,
  offers: readonly OfferPayability[],
  buyers: Buyers,
): Promise<Pick<Trial, 'payableBy' | 'words'>> {
  const namespaces = challenge.offers.map(({ network }) => findClaimedNamespace(network));
  const solana = namespaces.includes('solana');
  const quickstart = solana && !namespaces.includes('eip155') ? 'quickstart-svm' : 'quickstart';
  const whole = (client: x402HTTPClient) => read(client, response);
  const byDefault = await asks(await buyers(quickstart, solana), whole);
  const words = findRefusal(byDefault, challenge);
  const member = findRefusedMember(challenge);
  if (member !== null) {
    const isSaid = byDefault.kind === 'refuses' && member.pointer === '/x402Version';
    const own = `${REFUSED_WHOLE_PREFIX}: ${member.pointer} is ${showJson(member.value)}`;
    return { payableBy: 'nobody', words: isSaid ? words : escapeInvisible(own, MAX_WORDS) };
  }
  if (words === null) {
    return response.isLongHead === true
      ? { payableBy: 'settings', words: LONG_HEAD }
      : { payableBy: 'default', words };
  }
  // An unreadable challenge is not payable, whatever its single offers are worth.
  const unreadable = refusalToRead(await buyers('full', solana), response);
  if (unreadable !== null) return { payableBy: 'nobody', words: unreadable };
  const full = await asks(await buyers('full', solana), whole);
  const payable = offers.some(({ verdict }) => verdict === 'signs' || verdict === 'limited');
  if (payable || findRefusal(full, challenge) === null) return { payableBy: 'settings', words };
  // Other clients may accept what the specification allows and this one refuses.
  const isUnknown = challenge.offers.some((offer) => findFault(offer, challenge) === null);
  return { payableBy: isUnknown ? 'unknown' : 'nobody', words };
}

/** Null when a client signs an offer that facilitators accept. */
function findRefusal(answer: Answer, challenge: Challenge): string | null {
  if (answer.kind === 'refuses') return answer.words;
  const chosen = challenge.offers.find((offer) => isChosen(offer, answer.payload));
  return chosen === undefined ? null : findFault(chosen, challenge);
}

/** Version 1's payload has no copy of the offer, so scheme and network identify it. */
function isChosen({ entry, scheme, network }: Offer, payload: PaymentPayload): boolean {
  if (payload.accepted !== undefined) {
    return JSON.stringify(entry) === JSON.stringify(payload.accepted);
  }
  return scheme === Reflect.get(payload, 'scheme') && network === Reflect.get(payload, 'network');
}

/** Finds the reason why no facilitator can settle an offer; null when the table has none. */
function findFault(offer: Offer, { version }: Challenge): string | null {
  const [fault] = findOfferFaults(offer, version);
  if (fault === undefined) return null;
  const { pointer, why } = fault;
  return `${SIGNED_UNSOUND_PREFIX}: ${pointer} is ${showFault(fault)}${why === undefined ? '' : `, which ${why}`}`;
}

async function tryOffer(
  offer: Offer,
  challenge: Challenge,
  buyers: Buyers,
): Promise<OfferPayability> {
  const { scheme, network, extra } = offer;
  const client = findClient(challenge.version, scheme, network);
  const row = findSchemeRow(scheme, network);
  const shown = offerTerms(offer);
  const form = classifyNetwork(network, challenge.version);
  const isNamed = typeof scheme === 'string' && scheme !== '' && form !== 'malformed';
  if (client === null && isNamed) {
    return { ...shown, client, verdict: 'unsupported', words: null };
  }
  const solana = findClaimedNamespace(network) === 'solana';
  const alone = () => toSingleOffer(challenge, offer);
  const answer = await asks(await buyers('full', solana), alone);
  const words = answer.kind === 'refuses' ? answer.words : null;
  // A signature by another transfer method than the named one is not a payment.
  if (row !== null && client !== null && !isPaidMethod(row, extra)) {
    return { ...shown, client: null, verdict: 'unsupported', words };
  }
  if (words === null) {
    const fault = findFault(offer, challenge);
    return { ...shown, client, verdict: fault === null ? 'signs' : 'refuses', words: fault };
  }
  const unlimited = findRefusal(await asks(await buyers('unlimited', solana), alone), challenge);
  // Without spend controls, clients sign even for networks that do not exist.
  const isLimited = unlimited === null && form === 'ok';
  const verdict: OfferVerdict = isLimited ? 'limited' : 'refuses';
  return { ...shown, client, verdict, words: isLimited ? words : (unlimited ?? words) };
}

/** Leaves one offer, so that the others cannot affect the client. */
function toSingleOffer({ value }: Challenge, { entry }: Offer): PaymentRequired {
  const alone: unknown = { ...value, accepts: [entry] };
  // Untyped origin data; the client itself decides whether it is valid.
  return alone as PaymentRequired;
}

async function asks(
  client: x402HTTPClient,
  required: (client: x402HTTPClient) => PaymentRequired,
): Promise<Answer> {
  try {
    const payload = await client.createPaymentPayload(required(client));
    client.encodePaymentSignatureHeader(payload);
    return isPaidAsNamed(payload)
      ? { kind: 'signs', payload }
      : { kind: 'refuses', words: OTHER_METHOD };
  } catch (error) {
    return { kind: 'refuses', words: toWords(error) };
  }
}

/** The client falls back to its own method when an offer names an unknown one. */
function isPaidAsNamed({ accepted }: PaymentPayload): boolean {
  if (accepted === undefined) return true;
  const row = findSchemeRow(accepted.scheme, accepted.network);
  const { assetTransferMethod } = accepted.extra ?? {};
  return (
    row === null ||
    isPaidMethod(row, {
      assetTransferMethod:
        typeof assetTransferMethod === 'string' ? assetTransferMethod : undefined,
    })
  );
}

function refusalToRead(client: x402HTTPClient, seen: ChallengeAnswer): string | null {
  try {
    read(client, seen);
    return null;
  } catch (error) {
    return toWords(error);
  }
}

/** Follows the packages' fetch wrapper: repeated headers are joined, and an invalid JSON body is dropped. */
function read(client: x402HTTPClient, { headers, body }: ChallengeAnswer): PaymentRequired {
  const getHeader = (name: string) => {
    const values = headers.filter(([one]) => one === name.toLowerCase()).map(([, value]) => value);
    return values.length > 0 ? values.join(', ') : null;
  };
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  return client.getPaymentRequiredResponse(getHeader, parsed);
}

function toWords(error: unknown): string {
  if (!(error instanceof Error)) return 'refused without words';
  // viem adds its version and general advice to the relevant line.
  const short = 'shortMessage' in error ? error.shortMessage : error.message;
  return escapeInvisible(typeof short === 'string' ? short : error.message, MAX_WORDS);
}
