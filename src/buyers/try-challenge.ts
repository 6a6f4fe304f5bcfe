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
type ClientAnswer =
  | { readonly kind: 'signs'; readonly payload: PaymentPayload }
  | { readonly kind: 'refuses'; readonly words: string };

const MAX_CHARS = 200;
const LONG_HEAD = 'Node refuses a response head over 16 KiB, Python reads it';
const OTHER_METHOD = 'signs by another transfer method than the one that the offer names';

/** Equal challenges get equal results from the same packages. */
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

/** Tries all offers together. The client chooses among them, and one offer can hide or break the others. */
async function tryWhole(
  response: ChallengeAnswer,
  challenge: Challenge,
  offers: readonly OfferPayability[],
  buyers: Buyers,
): Promise<Pick<Trial, 'payableBy' | 'words'>> {
  const namespaces = challenge.offers.map(({ network }) => findClaimedNamespace(network));
  const solana = namespaces.includes('solana');
  const quickstart = solana && !namespaces.includes('eip155') ? 'quickstart-svm' : 'quickstart';
  const readWhole = (client: x402HTTPClient) => readAnswer(client, response);
  const byDefault = await askClient(await buyers(quickstart, solana), readWhole);
  const words = findRefusal(byDefault, challenge);
  const member = findRefusedMember(challenge);
  if (member !== null) {
    const isNamed = byDefault.kind === 'refuses' && member.pointer === '/x402Version';
    const own = `${REFUSED_WHOLE_PREFIX}: ${member.pointer} is ${showJson(member.value)}`;
    return { payableBy: 'nobody', words: isNamed ? words : escapeInvisible(own, MAX_CHARS) };
  }
  if (words === null) {
    return response.isLongHead === true
      ? { payableBy: 'settings', words: LONG_HEAD }
      : { payableBy: 'default', words };
  }
  // If no client can read the challenge, it is not payable, even if its single offers are.
  const unreadable = findReadError(await buyers('full', solana), response);
  if (unreadable !== null) return { payableBy: 'nobody', words: unreadable };
  const fullAnswer = await askClient(await buyers('full', solana), readWhole);
  const payable = offers.some(({ verdict }) => verdict === 'signs' || verdict === 'limited');
  if (payable || findRefusal(fullAnswer, challenge) === null)
    return { payableBy: 'settings', words };
  // The specification allows the offer, so another client may accept it.
  const isUnknown = challenge.offers.some((offer) => findFault(offer, challenge) === null);
  return { payableBy: isUnknown ? 'unknown' : 'nobody', words };
}

/** Null if the client signs an offer that facilitators accept. */
function findRefusal(answer: ClientAnswer, challenge: Challenge): string | null {
  if (answer.kind === 'refuses') return answer.words;
  const chosen = challenge.offers.find((offer) => isChosen(offer, answer.payload));
  return chosen === undefined ? null : findFault(chosen, challenge);
}

/** A payload of version 1 has no copy of the offer, so scheme and network identify the offer. */
function isChosen({ entry, scheme, network }: Offer, payload: PaymentPayload): boolean {
  if (payload.accepted !== undefined) {
    return JSON.stringify(entry) === JSON.stringify(payload.accepted);
  }
  return scheme === Reflect.get(payload, 'scheme') && network === Reflect.get(payload, 'network');
}

/** Finds the reason why no facilitator can settle an offer; null if our table has none. */
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
  const terms = offerTerms(offer);
  const form = classifyNetwork(network, challenge.version);
  const isNamed = typeof scheme === 'string' && scheme !== '' && form !== 'malformed';
  if (client === null && isNamed) {
    return { ...terms, client, verdict: 'unsupported', words: null };
  }
  const solana = findClaimedNamespace(network) === 'solana';
  const singleOffer = () => toSingleOffer(challenge, offer);
  const answer = await askClient(await buyers('full', solana), singleOffer);
  const words = answer.kind === 'refuses' ? answer.words : null;
  // The client signs by a transfer method that the offer does not name, so nobody can settle the payment.
  if (row !== null && client !== null && !isPaidMethod(row, extra)) {
    return { ...terms, client: null, verdict: 'unsupported', words };
  }
  if (words === null) {
    const fault = findFault(offer, challenge);
    return { ...terms, client, verdict: fault === null ? 'signs' : 'refuses', words: fault };
  }
  const unlimited = findRefusal(
    await askClient(await buyers('unlimited', solana), singleOffer),
    challenge,
  );
  // Without spend controls, clients sign even for networks that do not exist.
  const isLimited = unlimited === null && form === 'ok';
  const verdict: OfferVerdict = isLimited ? 'limited' : 'refuses';
  return { ...terms, client, verdict, words: isLimited ? words : (unlimited ?? words) };
}

/** Returns a challenge with only this offer, so that the others cannot affect the client. */
function toSingleOffer({ value }: Challenge, { entry }: Offer): PaymentRequired {
  const singleOffer: unknown = { ...value, accepts: [entry] };
  // The data of the origin has no type. The client decides if it is valid.
  return singleOffer as PaymentRequired;
}

async function askClient(
  client: x402HTTPClient,
  required: (client: x402HTTPClient) => PaymentRequired,
): Promise<ClientAnswer> {
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

/** False if the client used its own transfer method, because the offer names an unknown one. */
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

function findReadError(client: x402HTTPClient, seen: ChallengeAnswer): string | null {
  try {
    readAnswer(client, seen);
    return null;
  } catch (error) {
    return toWords(error);
  }
}

/** Reads like the packages' fetch wrapper: joins repeated headers, and ignores a body that is not JSON. */
function readAnswer(client: x402HTTPClient, { headers, body }: ChallengeAnswer): PaymentRequired {
  const getHeader = (name: string) => {
    const values = headers.filter(([key]) => key === name.toLowerCase()).map(([, value]) => value);
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
  // The full message of viem also has its version and general advice.
  const short = 'shortMessage' in error ? error.shortMessage : error.message;
  return escapeInvisible(typeof short === 'string' ? short : error.message, MAX_CHARS);
}
