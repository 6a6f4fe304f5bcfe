import type { x402HTTPClient } from '@x402/core/client';
import { tryParseJson } from '../model/json.ts';
import {
  type OfferPayability,
  type OfferVerdict,
  type PayableBy,
  REFUSED_WHOLE_PREFIX,
  SIGNED_OTHER_METHOD,
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
import { showFault } from '../parse/x402/fault-fixes.ts';
import { classifyNetwork, findClaimedNamespace } from '../parse/x402/networks.ts';
import { findOfferFaults, isUnknownScheme } from '../parse/x402/offer-faults.ts';
import { findClient, findSchemeRow, isPaidMethod } from '../parse/x402/schemes.ts';
import { type ChallengeAnswer, MAX_OFFERS, toOfferTerms } from './list-challenges.ts';

/**
 * `quickstart` follows the packages' README, and `quickstart-svm` adds Solana. `full` has every scheme of the packages.
 * `unlimited` is `full` without spend controls.
 */
type ClientName = 'quickstart' | 'quickstart-svm' | 'full' | 'unlimited';

export type MakeClient = (name: ClientName, needsSolana: boolean) => Promise<x402HTTPClient>;

export type Trial = {
  readonly payableBy: PayableBy;
  /** The client's message, or why nobody can pay; null if the default client pays. */
  readonly words: string | null;
  readonly offers: readonly OfferPayability[];
};

type PaymentRequired = ReturnType<x402HTTPClient['getPaymentRequiredResponse']>;
type PaymentPayload = Awaited<ReturnType<x402HTTPClient['createPaymentPayload']>>;
type ClientAnswer =
  | { readonly kind: 'signs'; readonly payload: PaymentPayload }
  | { readonly kind: 'refuses'; readonly words: string };

const MAX_WORDS_CHARS = 200;
const LONG_HEAD_WORDS = 'Node refuses a response head over 16 KiB, Python reads it';

export async function tryChallenge(
  answer: ChallengeAnswer,
  makeClient: MakeClient,
): Promise<Trial> {
  const { challenge } = readChallenge(answer);
  if (challenge === null) return { payableBy: 'nobody', words: 'no challenge', offers: [] };
  const offers: OfferPayability[] = [];
  for (const offer of challenge.offers.slice(0, MAX_OFFERS)) {
    offers.push(await tryOffer(offer, challenge, makeClient));
  }
  return { ...(await tryAllOffers(answer, challenge, offers, makeClient)), offers };
}

/** Tries the whole challenge. The client chooses an offer, and one offer can hide or break the others. */
async function tryAllOffers(
  answer: ChallengeAnswer,
  challenge: Challenge,
  triedOffers: readonly OfferPayability[],
  makeClient: MakeClient,
): Promise<Pick<Trial, 'payableBy' | 'words'>> {
  const namespaces = challenge.offers.map(({ network }) => findClaimedNamespace(network));
  const needsSolana = namespaces.includes('solana');
  const isSolanaOnly = needsSolana && !namespaces.includes('eip155');
  const quickstart = isSolanaOnly ? 'quickstart-svm' : 'quickstart';
  const readRequired = (client: x402HTTPClient) => readAnswer(client, answer);
  const quickAnswer = await askClient(await makeClient(quickstart, needsSolana), readRequired);
  const words = findRefusal(quickAnswer, challenge);
  const refused = findRefusedMember(challenge);
  if (refused !== null) {
    // About the version, the client's own message is clear.
    if (quickAnswer.kind === 'refuses' && refused.pointer === '/x402Version') {
      return { payableBy: 'nobody', words };
    }
    const reason = `${REFUSED_WHOLE_PREFIX}: ${refused.pointer} is ${showJson(refused.value)}`;
    return { payableBy: 'nobody', words: escapeInvisible(reason, MAX_WORDS_CHARS) };
  }
  if (words === null) {
    return answer.isLongHead === true
      ? { payableBy: 'settings', words: LONG_HEAD_WORDS }
      : { payableBy: 'default', words };
  }
  // If no client can read the challenge, the challenge is not payable, even if a single offer is payable.
  const readError = findReadError(await makeClient('full', needsSolana), answer);
  if (readError !== null) return { payableBy: 'nobody', words: readError };
  const fullAnswer = await askClient(await makeClient('full', needsSolana), readRequired);
  const isPayable = triedOffers.some(({ verdict }) => verdict === 'signs' || verdict === 'limited');
  if (isPayable || findRefusal(fullAnswer, challenge) === null)
    return { payableBy: 'settings', words };
  // The specification allows an offer without a fault, so another client may accept it.
  const isUnknown = challenge.offers.some((offer) => findFault(offer, challenge) === null);
  return { payableBy: isUnknown ? 'unknown' : 'nobody', words };
}

/** Finds why the client's answer pays nothing; null if the client signs an offer that facilitators accept. */
function findRefusal(answer: ClientAnswer, challenge: Challenge): string | null {
  if (answer.kind === 'refuses') return answer.words;
  const chosen = challenge.offers.find((offer) => isChosen(offer, answer.payload));
  if (chosen === undefined) return null;
  return findFault(chosen, challenge) ?? (hasNamedMethod(chosen) ? null : SIGNED_OTHER_METHOD);
}

/** False if the offer names a transfer method that the client does not know. The client then uses its own method. */
function hasNamedMethod(offer: Offer): boolean {
  return findSchemeRow(offer.scheme, offer.network) === null || isPaidMethod(offer);
}

/** A payload of version 1 has no copy of the chosen offer, so scheme and network must identify the offer. */
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
  makeClient: MakeClient,
): Promise<OfferPayability> {
  const { scheme, network } = offer;
  const client = findClient(challenge.version, scheme, network);
  const terms = toOfferTerms(offer);
  const networkForm = classifyNetwork(network, challenge.version);
  // A scheme that x402 does not know may have networks that x402 does not know.
  const mayBeSupported =
    isUnknownScheme(offer) ||
    (typeof scheme === 'string' && scheme !== '' && networkForm !== 'malformed');
  if (client === null && mayBeSupported)
    return { ...terms, client, verdict: 'unsupported', words: null };
  const needsSolana = findClaimedNamespace(network) === 'solana';
  const readRequired = () => toSingleOffer(challenge, offer);
  const answer = await askClient(await makeClient('full', needsSolana), readRequired);
  const words = answer.kind === 'refuses' ? answer.words : null;
  // The client would sign by another transfer method than the offer names, so nobody could settle the payment.
  if (client !== null && !hasNamedMethod(offer)) {
    return { ...terms, client: null, verdict: 'unsupported', words };
  }
  if (words === null) {
    const fault = findFault(offer, challenge);
    return { ...terms, client, verdict: fault === null ? 'signs' : 'refuses', words: fault };
  }
  const unlimitedClient = await makeClient('unlimited', needsSolana);
  const refusal = findRefusal(await askClient(unlimitedClient, readRequired), challenge);
  // Without spend controls, clients sign even for networks that do not exist.
  const verdict: OfferVerdict = refusal === null && networkForm === 'ok' ? 'limited' : 'refuses';
  return { ...terms, client, verdict, words: refusal ?? words };
}

/** Returns a challenge with only this offer, so that the other offers cannot affect the client. */
function toSingleOffer({ value }: Challenge, { entry }: Offer): PaymentRequired {
  const singleOffer: unknown = { ...value, accepts: [entry] };
  // The origin's data has no type. The client decides if the data is valid.
  return singleOffer as PaymentRequired;
}

/** `readRequired` gives the challenge to sign. If it throws, the client refuses. */
async function askClient(
  client: x402HTTPClient,
  readRequired: (client: x402HTTPClient) => PaymentRequired,
): Promise<ClientAnswer> {
  try {
    const payload = await client.createPaymentPayload(readRequired(client));
    client.encodePaymentSignatureHeader(payload);
    return { kind: 'signs', payload };
  } catch (error) {
    return { kind: 'refuses', words: toWords(error) };
  }
}

function findReadError(client: x402HTTPClient, answer: ChallengeAnswer): string | null {
  try {
    readAnswer(client, answer);
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
  return client.getPaymentRequiredResponse(getHeader, tryParseJson(body));
}

function toWords(error: unknown): string {
  if (!(error instanceof Error)) return 'refused without words';
  // The full messages of viem also contain viem's version and general advice.
  const short = 'shortMessage' in error ? error.shortMessage : error.message;
  return escapeInvisible(typeof short === 'string' ? short : error.message, MAX_WORDS_CHARS);
}
