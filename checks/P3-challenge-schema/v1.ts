/** P3: each challenge is valid x402 v2 and payable as it stands. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  notDetermined,
  pass,
  type Seen,
  VERSION_2_FIX,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { ToolFacts } from '../../src/model/observations.ts';
import type { OfferPayability, ResourcePayability } from '../../src/model/payability.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge, ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

/** Facilitators refuse a shorter timeout. No seller needs more than a day. */
const MIN_TIMEOUT_SECONDS = 6;
const MAX_TIMEOUT_SECONDS = 86_400;
/** A path or a query. A URL that begins with a host name has lost its scheme and is not relative. */
const RELATIVE_URL = /^(?:\.{0,2}\/|\?|#|[-\w~%]+(?:[/?#]|$))/;
/** Measured with x402 2.25 for Python. */
const TYPE_NOTE =
  'the official Python client refuses the whole challenge, the TypeScript client reads on';
const SIGNED_NOTE = ' (clients sign it, facilitators refuse it)';
const MAX_MESSAGE_CHARS = 110;
const MAX_SHOWN = 3;
/** A client's message may contain a shorter value by chance. */
const MIN_QUOTED_CHARS = 20;

const OUTCOMES = {
  'wrong-version': fail('Set x402Version to the number 2.'),
  'v1-names': fail('Use the names of version 2: amount, CAIP-2 networks, resource beside accepts.'),
  'no-accepts': fail('Offer at least one way to pay in accepts.'),
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
  'version-1': warn(VERSION_2_FIX),
  'unsound-offer': warn('Correct the offer or remove it: it makes clients fail.'),
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
type Flaw = Found<Kind>;
type Origin = Seen<'origin'>['origin'];
type JudgedOffer = {
  /** Null if the offer is sound, or if `isNamed`. */
  readonly kind: Kind | null;
  readonly isUnsound: boolean;
  /** True if we know the scheme and network of the offer, but do not judge it. */
  readonly isNamed?: boolean;
  /** The evidence about the offer. */
  readonly texts: readonly string[];
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
    const findPayability = ({ probe, resource }: ChallengedResource) =>
      payability?.resources.find(
        ({ method, path }) => method === probe.method && path === resource.path,
      ) ?? null;
    return worstOf(
      OUTCOMES,
      resources,
      kit,
      (paidResource) => {
        const { challenge } = paidResource.reading;
        const verdicts = findPayability(paidResource);
        return [
          ...inspectTopLevel(paidResource, origin, verdicts, kit),
          ...listIllTyped(challenge, kit),
          ...listFlaws(judgeOffers(challenge, verdicts, kit), verdicts),
        ];
      },
      (count, challenged) => {
        const notes = challenged.flatMap((paidResource) =>
          judgeOffers(paidResource.reading.challenge, findPayability(paidResource), kit).flatMap(
            ({ kind, isNamed, texts }) =>
              texts.map((text) => `${text} (${kind ?? (isNamed ? 'named' : 'passive')})`),
          ),
        );
        const otherOffers = notes.length > 0 ? `; also offered: ${joinFirst(notes)}` : '';
        return ['valid', `${count} sent a valid version 2 challenge${otherOffers}`];
      },
      'named',
    );
  },
});

function inspectTopLevel(
  { reading, resource }: ChallengedResource,
  origin: Origin,
  payability: ResourcePayability | null,
  kit: Kit,
): readonly Flaw[] {
  const { version, value, offers, resourceUrl } = reading.challenge;
  const message = quoteMessage(payability, kit);
  const flaws: Flaw[] = [];
  const stated = kit.show(value['x402Version']);
  if (version === 1) flaws.push(['version-1', `/x402Version: ${stated}`]);
  else if (stated !== '2') flaws.push(['wrong-version', `/x402Version: ${stated}${message}`]);
  if (offers.length === 0) {
    flaws.push(['no-accepts', `/accepts: ${kit.show(value['accepts'])}${message}`]);
  }
  if (version === 2 && (value['resource'] ?? null) === null) {
    const stated = kit.show(value['resource']);
    flaws.push(['no-resource', `/resource: ${stated}; clients sign without it`]);
    return flaws;
  }
  const refused = kit.refusedMember(reading.challenge);
  if (refused?.pointer === '/resource') {
    flaws.push(['bad-resource-url', `/resource: ${kit.show(refused.value)}`]);
    return flaws;
  }
  const kind = version === 1 ? null : judgeUrl(resourceUrl ?? '', origin, resource.tool);
  if (kind !== null) flaws.push([kind, `/resource/url: ${kit.show(resourceUrl ?? undefined)}`]);
  return flaws;
}

function listIllTyped(challenge: Challenge, kit: Kit): readonly Flaw[] {
  return kit.illTyped(challenge).map(({ pointer, value }): Flaw => {
    return ['clients-differ', `${pointer}: ${kit.show(value)}: ${TYPE_NOTE}`];
  });
}

function judgeUrl(text: string, origin: Origin, tool: ToolFacts | undefined): Kind | null {
  const isRelative = RELATIVE_URL.test(text);
  const url = URL.parse(text, isRelative ? origin.url : undefined);
  if (tool !== undefined && url?.protocol === 'mcp:') {
    // "mcp://tool/NAME" as the SDKs write it, or the address of the server.
    return url.host === 'tool' || url.hostname === origin.hostname ? null : 'other-host';
  }
  // Only the transport over MCP writes this URL, but this resource is sold over HTTP.
  if (url?.protocol === 'mcp:') return 'other-host';
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return 'bad-resource-url';
  if (url.hostname !== origin.hostname) return 'other-host';
  if (isRelative) return 'relative-url';
  return url.protocol === 'https:' || origin.scheme === 'http' ? null : 'http-url';
}

function judgeOffers(
  challenge: Challenge,
  payability: ResourcePayability | null,
  kit: Kit,
): readonly JudgedOffer[] {
  return challenge.offers.map((offer) => {
    const verdict = payability?.offers.find(({ pointer }) => pointer === offer.pointer) ?? null;
    const faults = kit.offerFaults(offer, challenge.version);
    const [first] = faults;
    if (first !== undefined) {
      const texts = faults.map((fault) => kit.describeFault(fault));
      const isSigned = verdict?.words?.startsWith('clients sign it') ?? false;
      const note = isSigned ? SIGNED_NOTE : quoteMessage(verdict, kit);
      const evidence = [`${texts[0]}${note}`, ...texts.slice(1)];
      return { kind: first.kind, isUnsound: true, texts: evidence };
    }
    const named = kit.named(offer);
    if (named !== null) {
      return { kind: null, isUnsound: false, isNamed: true, texts: [named] };
    }
    const [kind, text] = judgeAllowed(offer, challenge.version, verdict, kit) ?? [null, null];
    const texts = [text ?? describePassive(offer, kit)].filter((each) => each !== null);
    return { kind, isUnsound: false, texts };
  });
}

/** Finds why clients may not pay an offer that the specification allows; null if there is no reason. */
function judgeAllowed(
  offer: Offer,
  version: Challenge['version'],
  payability: OfferPayability | null,
  kit: Kit,
): Flaw | null {
  const { pointer, scheme, network, asset, extra, maxTimeoutSeconds } = offer;
  const row = kit.scheme(offer);
  const form = kit.networkForm(network, version);
  if (form === 'outdated') return ['outdated-network', `${pointer}/network: ${kit.show(network)}`];
  if (row === null || form === 'unknown') {
    const pair = `${kit.show(scheme)} on ${kit.show(network)}`;
    return ['unknown', `${pointer}: ${pair} is unknown to this catalog`];
  }
  if (!kit.isPaidMethod(offer)) {
    const method = kit.at(extra, '/assetTransferMethod');
    const isKnown = row.methods?.some((known) => known === method) ?? false;
    const source = isKnown ? `in ${row.specification?.file}` : 'unknown to this catalog';
    return [
      'client-refuses',
      `${pointer}/extra/assetTransferMethod: ${kit.show(method)} is ${source}, and no official client pays by it${quoteMessage(payability, kit)}`,
    ];
  }
  if (payability?.verdict === 'refuses') {
    const member = findRefusedMember(offer, payability.words ?? '', kit);
    return [
      'client-refuses',
      `${row.specification?.file} allows ${member}, and the official client refuses it${quoteMessage(payability, kit)}`,
    ];
  }
  const known = kit.asset(String(network), String(asset));
  // A price over the client's default limit is no flaw: the buyer decides about it.
  if (payability?.verdict === 'limited' && known === null) {
    return [
      'unusual-asset',
      `${pointer}/asset: ${kit.show(asset)}${quoteMessage(payability, kit)}`,
    ];
  }
  const seconds = Number(maxTimeoutSeconds);
  if (seconds >= MIN_TIMEOUT_SECONDS && seconds <= MAX_TIMEOUT_SECONDS) return null;
  return ['timeout', `${pointer}/maxTimeoutSeconds: ${kit.show(maxTimeoutSeconds)}`];
}

/** Describes the member that the client's message names by value or name. If it names none, returns the offer's pointer. */
function findRefusedMember({ pointer, entry, extra }: Offer, message: string, kit: Kit): string {
  const topMembers = Object.entries(kit.object(entry)).filter(([name]) => name !== 'extra');
  const extraMembers = Object.entries(kit.object(extra)).map(
    ([name, value]) => [`extra/${name}`, value] as const,
  );
  const refused = [...topMembers, ...extraMembers].find(([name, value]) => {
    const isQuoted =
      typeof value === 'string' && value.length >= MIN_QUOTED_CHARS && message.includes(value);
    return isQuoted || (name.startsWith('extra/') && message.includes(name.slice('extra/'.length)));
  });
  return refused === undefined ? pointer : `${pointer}/${refused[0]}: ${kit.show(refused[1])}`;
}

/** Says by which document a passive offer is judged; null if a client here has its scheme. */
function describePassive(offer: Offer, kit: Kit): string | null {
  const row = kit.scheme(offer);
  if (row === null || row.client !== null) return null;
  const pair = `${kit.show(offer.scheme)} on ${kit.show(offer.network)}`;
  return `${offer.pointer}: ${pair} is judged by ${row.specification?.file}; no client that we run pays it`;
}

function listFlaws(offers: readonly JudgedOffer[], payability: ResourcePayability | null): Flaw[] {
  const flawed = offers.filter(({ kind }) => kind !== null);
  const hasSound = offers.some(
    ({ kind, isNamed }) => (kind === null && isNamed !== true) || kind === 'timeout',
  );
  const hasAllowed = offers.some(({ isUnsound }) => !isUnsound);
  const mayFailByDefault = payability === null || payability.payableBy !== 'default';
  const findKind = ({ kind, isUnsound }: JudgedOffer): Kind | null => {
    if (kind === null || kind === 'timeout') return kind;
    if (isUnsound && !hasSound) return hasAllowed ? 'unsound-offer' : kind;
    if (isUnsound) return mayFailByDefault ? 'unsound-offer' : null;
    if (!hasSound) return kind;
    // Clients skip an offer that they do not know. They may choose a known offer and then refuse it.
    return kind === 'client-refuses' && mayFailByDefault && payability !== null ? kind : null;
  };
  return flawed.flatMap((offer): readonly Flaw[] => {
    const kind = findKind(offer);
    return kind === null ? [] : offer.texts.map((text): Flaw => [kind, text]);
  });
}

function quoteMessage(payability: Pick<OfferPayability, 'words'> | null, kit: Kit): string {
  if (payability === null || payability.words === null) return '';
  // This message is ours, not a client's. The evidence already has the member.
  if (payability.words.startsWith('some clients sign it')) return '';
  return ` (the official client says ${kit.quote(payability.words, MAX_MESSAGE_CHARS)})`;
}

function joinFirst(texts: readonly string[]): string {
  const rest = texts.length - MAX_SHOWN;
  return texts.slice(0, MAX_SHOWN).join('; ') + (rest > 0 ? `; ${rest} more` : '');
}
