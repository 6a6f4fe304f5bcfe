/** P3: each challenge is valid x402 v2 and payable as it stands. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  findVersion2Fix,
  NAMED_SUMMARY,
  type Note,
  notDetermined,
  pass,
  type Seen,
  VERSION_2_FIX,
  warn,
  withNotes,
  worstOf,
} from '#check';
import type { Kit } from '#kit';
import type { OfferPayability, ResourcePayability } from '#model';
import type { Challenge, ChallengedResource, Offer } from '#parse/challenge';

/** Facilitators refuse a shorter timeout. No seller needs more than a day. */
const MIN_TIMEOUT_SECONDS = 6;
const MAX_TIMEOUT_SECONDS = 86_400;
/** Measured with x402 2.25 for Python. */
const TYPE_NOTE =
  'the official Python client refuses the whole challenge, the TypeScript client reads on';
const REMOVE_FIX = 'Correct the offer or remove it';
const MOVE_FIX = 'Put the whole offers that stand elsewhere in the challenge into accepts.';
const ORDER_FIX = 'Put the offers that clients can pay first';
const RESOURCE_FIX = 'Write resource as an object: { "url": "https://…", "description": "…" }.';

/** The SDK only warns on the console, and sends an empty list (x402 issue 2760). */
const UNREGISTERED_FIX =
  'Register the scheme of each network on the server, and use a facilitator that lists it at /supported: an SDK drops all other offers.';

const OUTCOMES = {
  'wrong-version': fail('Set x402Version to the number 2.'),
  'v1-names': fail('Use the names of version 2: amount, CAIP-2 networks, resource beside accepts.'),
  'no-accepts': fail('Offer at least one way to pay in accepts.'),
  'bad-entry': fail('Write each entry of accepts as an object with the members of an offer.'),
  'bad-resource-url': fail('Set resource.url to the absolute https URL of this resource.'),
  'bad-field': fail('Write amount in base units, network as CAIP-2, asset and payTo as addresses.'),
  'bad-recipient': fail('Set payTo to your own address: money sent elsewhere is lost.'),
  'wrong-chain': fail('Set asset to the address of the token on the network of the offer.'),
  'out-of-range': fail('Write numbers that the network can carry: no client can sign larger ones.'),
  'no-domain': fail("Add the token's EIP-712 name and version to extra, or let the SDK price it."),
  'missing-member': fail(
    'Add the members of the scheme to extra: its facilitator names the values.',
  ),
  'wrong-domain': fail("Set extra.name and extra.version to the token's own EIP-712 domain."),
  'unsound-offer': warn(`${REMOVE_FIX}: it makes clients fail.`),
  'version-1': warn(VERSION_2_FIX),
  'clients-differ': warn(
    'Write each member in its type: one client refuses the whole challenge otherwise.',
  ),
  'client-refuses': warn('Offer "exact" by EIP-3009 too, which the official clients sign.'),
  'unusual-asset': warn('Offer a default asset too, such as USDC on Base: clients refuse others.'),
  unknown: warn('Offer "exact" on Base or Solana too, which every client knows.'),
  'outdated-network': warn('Write the network by the CAIP-2 id that is valid now.'),
  timeout: warn('Set maxTimeoutSeconds between 6 and 86400; 300 suits most resources.'),
  'no-resource': warn('Add resource with the url of the paid resource: version 2 requires it.'),
  'relative-url': warn('Write resource.url with its scheme and host.'),
  'other-host': warn('Set resource.url to the address on the host that sells it.'),
  'http-url': warn(
    'Trust the proxy (Express "trust proxy", uvicorn --proxy-headers), or name the address: Resource in the Go route, with_base_url in x402-axum.',
  ),
  named: notDetermined('Offer "exact" on Base or Solana too, which can be judged here.'),
  valid: pass('Keep the challenge as the SDK writes it.'),
};
type Kind = keyof typeof OUTCOMES;
const KINDS_BY_PRECEDENCE: readonly string[] = Object.keys(OUTCOMES);
type Flaw = Found<Kind>;
type Origin = Seen<'origin'>['origin'];
type JudgedOffer = {
  /** Null if the offer is sound, or if `isNamed`. */
  readonly kind: Kind | null;
  /** True if the offer breaks its specification. */
  readonly isUnsound: boolean;
  /** True if we know the scheme and network of the offer, but do not judge it. */
  readonly isNamed?: boolean;
  /** True if clients throw wherever the offer stands, so that another order does not help. */
  readonly breaksAll?: boolean;
  /** The evidence about the offer; null for a sound offer that clients here pay. */
  readonly text: string | null;
  /** An imperative that corrects the offer, without its full stop. */
  readonly fix?: string | undefined;
};

export default defineCheck({
  id: 'P3',
  version: 1,
  says: {
    right: 'Every challenge is valid x402 version 2, and clients can pay it unchanged.',
    wrong: 'Some challenges are not valid x402 version 2, or no client can sign them.',
    unjudged: 'It is not known whether the challenges are valid and can be paid.',
  },
  needs: ['origin', 'resources', 'payability'],
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate({ origin, resources, payability }, kit) {
    const findVerdicts = ({ probe, resource }: ChallengedResource) =>
      payability?.resources.find(
        ({ method, path }) => method === probe.method && path === resource.path,
      ) ?? null;
    const judge = (item: ChallengedResource) => {
      const { challenge } = item.reading;
      const verdicts = findVerdicts(item);
      const offers = challenge.offers.map((offer) => judgeOffer(offer, challenge, verdicts, kit));
      const topFlaws = inspectTopLevel(item, origin, verdicts, kit);
      const offerFlaws = nameOffersBeside(listFlaws(offers, verdicts), offers, challenge, kit);
      const illTyped = listIllTyped(challenge, [...topFlaws, ...offerFlaws], kit);
      return { offers, flaws: [...topFlaws, ...illTyped, ...offerFlaws] };
    };
    const finding = worstOf(
      OUTCOMES,
      resources,
      kit,
      (item) => kit.inCopy(item.reading, judge(item).flaws),
      (count) => ['valid', `${count} sent a valid version 2 challenge`],
      [['named', kit.namedOnly, NAMED_SUMMARY]],
    );
    // The finding names only the worst flaws. The notes name the others, and the offers that are not judged.
    const notes = kit.challenged(resources).flatMap((item) => {
      const { offers, flaws } = judge(item);
      return [...flaws, ...offers.flatMap(toNote)];
    });
    return withNotes(finding, notes);
  },
});

function toNote({ kind, isNamed, text }: JudgedOffer): readonly Note[] {
  return text === null ? [] : [[kind ?? (isNamed ? 'named' : 'passive'), text]];
}

function inspectTopLevel(
  { reading, resource, probe }: ChallengedResource,
  origin: Origin,
  verdicts: ResourcePayability | null,
  kit: Kit,
): readonly Flaw[] {
  const { version, value, offers, resourceUrl } = reading.challenge;
  const message = kit.quoteClient(verdicts?.words ?? null);
  const flaws: Flaw[] = [];
  const stated = kit.show(value['x402Version']);
  if (version === 1) {
    const fix = findVersion2Fix([probe.answer], kit);
    flaws.push(['version-1', `/x402Version: ${stated}`, fix]);
  } else if (stated !== '2') {
    flaws.push(['wrong-version', `/x402Version: ${stated}${message}`, kit.fixVersion(offers)]);
  }
  if (offers.length === 0) {
    const fix = Array.isArray(value['accepts']) ? UNREGISTERED_FIX : undefined;
    flaws.push(['no-accepts', `/accepts: ${kit.show(value['accepts'])}${message}`, fix]);
  }
  if (version === 2 && (value['resource'] ?? null) === null) {
    const text = `/resource: ${kit.show(value['resource'])}; clients sign without it`;
    return [...flaws, ['no-resource', text]];
  }
  const refused = kit.refusedMember(reading.challenge);
  if (refused?.pointer === '/resource') {
    const isObject = typeof refused.value === 'object' && !Array.isArray(refused.value);
    const text = `/resource: ${kit.show(refused.value)}${isObject ? '' : ' is not an object'}`;
    return [...flaws, ['bad-resource-url', text, isObject ? undefined : RESOURCE_FIX]];
  }
  if (version === 1) return flaws;
  const fault = kit.resourceUrlFault(resourceUrl ?? '', origin, resource.tool !== undefined);
  if (fault !== null) flaws.push([fault, `/resource/url: ${kit.show(resourceUrl ?? undefined)}`]);
  return flaws;
}

/** Leaves out members that `flaws` name already. */
function listIllTyped(challenge: Challenge, flaws: readonly Flaw[], kit: Kit): readonly Flaw[] {
  const evidence = flaws.map(([, text]) => text);
  return kit.describeIllTyped(challenge, evidence).map(({ text, fix }) => {
    const ownFix = fix === null ? undefined : `${REMOVE_FIX}: ${fix}.`;
    return ['clients-differ', `${text}: ${TYPE_NOTE}`, ownFix];
  });
}

function judgeOffer(
  offer: Offer,
  { version }: Challenge,
  verdicts: ResourcePayability | null,
  kit: Kit,
): JudgedOffer {
  const verdict = verdicts?.offers.find(({ pointer }) => pointer === offer.pointer) ?? null;
  const faults = kit.offerFaults(offer, version);
  const [worstFault] = faults.toSorted(
    (a, b) => KINDS_BY_PRECEDENCE.indexOf(a.kind) - KINDS_BY_PRECEDENCE.indexOf(b.kind),
  );
  if (worstFault !== undefined) {
    // If clients pay another offer, their words about a bad entry do not help the seller.
    const isPassedOver =
      verdicts?.payableBy === 'default' && faults.some(({ kind }) => kind === 'bad-entry');
    const words = isPassedOver ? null : (verdict?.words ?? null);
    return {
      kind: worstFault.kind,
      isUnsound: true,
      breaksAll: faults.some(kit.breaksChallenge),
      text: kit.describeFaults(faults, offer, version, words),
      fix: kit.fixFaults(faults, offer, version),
    };
  }
  const named = kit.named(offer);
  if (named !== null) return { kind: null, isUnsound: false, isNamed: true, text: named };
  const [kind, text, fix] = judgeAllowed(offer, version, verdict, kit) ?? [null, null];
  return { kind, isUnsound: false, text: text ?? kit.describePassive(offer), fix };
}

/** Finds why clients may not pay an offer that the specification allows; null if there is no reason. */
function judgeAllowed(
  offer: Offer,
  version: Challenge['version'],
  verdict: OfferPayability | null,
  kit: Kit,
): Flaw | null {
  const { pointer, network, asset, maxTimeoutSeconds } = offer;
  const words = verdict?.words ?? null;
  const row = kit.scheme(offer);
  const form = kit.networkForm(network, version);
  if (form === 'outdated') {
    const text = `${pointer}/network: ${kit.show(network)}`;
    return ['outdated-network', text, kit.fixNetwork(network, version)];
  }
  if (row === null || form === 'unknown') {
    const fix = form === 'unknown' ? kit.fixUnknownNetwork(network, version) : undefined;
    return ['unknown', kit.describeUnknown(offer), fix];
  }
  const unpaidMethod = kit.describeUnpaidMethod(offer, words);
  if (unpaidMethod !== null) return ['client-refuses', unpaidMethod];
  if (verdict?.verdict === 'refuses') {
    const [name, value] = kit.namedMember(offer, words ?? '') ?? [];
    const member = name === undefined ? pointer : `${pointer}/${name}: ${kit.show(value)}`;
    const place = `${row.specification?.file} allows ${member}`;
    const evidence = `${place}, and the official client refuses it${kit.quoteClient(words)}`;
    return ['client-refuses', evidence];
  }
  const knownAsset = kit.asset(String(network), String(asset));
  // A price over the client's default limit is not a flaw: the buyer decides about it.
  if (verdict?.verdict === 'limited' && knownAsset === null) {
    return ['unusual-asset', `${pointer}/asset: ${kit.show(asset)}${kit.quoteClient(words)}`];
  }
  const seconds = Number(maxTimeoutSeconds);
  if (seconds >= MIN_TIMEOUT_SECONDS && seconds <= MAX_TIMEOUT_SECONDS) return null;
  return ['timeout', `${pointer}/maxTimeoutSeconds: ${kit.show(maxTimeoutSeconds)}`];
}

/** Weighs the offers against each other: an offer that clients pass over beside a sound one is no flaw. */
function listFlaws(offers: readonly JudgedOffer[], verdicts: ResourcePayability | null): Flaw[] {
  const firstSound = offers.findIndex(
    ({ kind, isNamed }) => (kind === null && isNamed !== true) || kind === 'timeout',
  );
  const hasSound = firstSound >= 0;
  const hasAllowed = offers.some(({ isUnsound }) => !isUnsound);
  const isPayableByDefault = verdicts?.payableBy === 'default';
  const findKind = ({ kind, isUnsound }: JudgedOffer): Kind | null => {
    if (kind === null || kind === 'timeout') return kind;
    // If all offers are unsound, each fault is a finding of its own.
    if (isUnsound && !hasSound) return hasAllowed ? 'unsound-offer' : kind;
    if (isUnsound) return isPayableByDefault ? null : 'unsound-offer';
    if (!hasSound) return kind;
    // Clients skip an offer that they do not know. They may choose a known offer and then refuse it.
    return kind === 'client-refuses' && verdicts !== null && !isPayableByDefault ? kind : null;
  };
  return offers.flatMap((offer, index): readonly Flaw[] => {
    const kind = findKind(offer);
    if (kind === null || offer.text === null) return [];
    return [[kind, offer.text, findFix(kind, offer, index < firstSound)]];
  });
}

/** If no offer of `accepts` is sound, says where the challenge has whole offers that clients do not read. */
function nameOffersBeside(
  flaws: readonly Flaw[],
  offers: readonly JudgedOffer[],
  challenge: Challenge,
  kit: Kit,
): readonly Flaw[] {
  const pointer = offers.every(({ isUnsound }) => isUnsound) ? kit.offersBeside(challenge) : null;
  const [first, ...others] = flaws;
  if (pointer === null || first === undefined) return flaws;
  const [kind, text] = first;
  return [
    [kind, `clients read /accepts, and whole offers stand at ${pointer}; ${text}`, MOVE_FIX],
    ...others,
  ];
}

/** Clients take the first offer that they can sign: the order is the remedy for an offer before a sound one. */
function findFix(kind: Kind, { fix, breaksAll }: JudgedOffer, isBeforeSound: boolean) {
  if (kind === 'client-refuses' && isBeforeSound) {
    return `${ORDER_FIX}: clients take the first that they can sign.`;
  }
  if (kind === 'unsound-offer') {
    const isMovable = isBeforeSound && breaksAll !== true;
    return `${isMovable ? `${ORDER_FIX}, and correct the others` : REMOVE_FIX}: ${fix}.`;
  }
  return fix === undefined ? undefined : `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`;
}
