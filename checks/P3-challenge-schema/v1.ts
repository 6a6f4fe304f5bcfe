/** P3: each challenge is valid x402 v2 and payable as it stands. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  notDetermined,
  pass,
  type Seen,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { ToolFacts } from '../../src/model/observations.ts';
import type { OfferPayability, ResourcePayability } from '../../src/model/payability.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { Challenge, ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

/** Facilitators refuse a shorter timeout; no answer takes longer than a day. */
const MIN_TIMEOUT_SECONDS = 6;
const MAX_TIMEOUT_SECONDS = 86_400;
/** A path or a query. A URL that begins with a host name has lost its scheme and is not relative. */
const RELATIVE = /^(?:\.{0,2}\/|\?|#|[-\w~%]+(?:[/?#]|$))/;
/** The second client is x402 2.25 for Python; tests run it. */
const TYPED =
  'the official Python client refuses the whole challenge, the TypeScript client reads on';
const SIGNED_ALL_THE_SAME = ' (clients sign it, facilitators refuse it)';
const MAX_WORDS = 110;
const MAX_NAMED = 3;
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
  'version-1': warn('Move to x402 version 2: @x402/express or @x402/next, or x402 2.x for Python.'),
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
/** One offer: sound (null), or what it is called, with the places that say so. */
type Judged = {
  readonly offer: Offer;
  readonly kind: Kind | null;
  readonly isUnsound: boolean;
  /** Known, and not judged here. */
  readonly isNamed?: boolean;
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
    const saidOf = ({ probe, resource }: ChallengedResource) =>
      payability?.resources.find(
        ({ method, path }) => method === probe.method && path === resource.path,
      ) ?? null;
    return worstOf(
      OUTCOMES,
      resources,
      kit,
      (one) => {
        const { challenge } = one.reading;
        const offers = judgeOffers(challenge, saidOf(one), kit);
        return [
          ...inspectTop(one, origin, saidOf(one), kit),
          ...illTyped(challenge, kit),
          ...flawsOf(offers, saidOf(one)),
        ];
      },
      (count, challenged) => {
        const named = challenged.flatMap((one) =>
          judgeOffers(one.reading.challenge, saidOf(one), kit).flatMap(({ kind, isNamed, texts }) =>
            texts.map((text) => `${text} (${kind ?? (isNamed ? 'named' : 'passive')})`),
          ),
        );
        const beside = named.length > 0 ? `; also offered: ${short(named)}` : '';
        return ['valid', `${count} sent a valid version 2 challenge${beside}`];
      },
      'named',
    );
  },
});

function inspectTop(
  { reading, resource }: ChallengedResource,
  origin: Origin,
  said: ResourcePayability | null,
  kit: Kit,
): readonly Flaw[] {
  const { version, value, offers, resourceUrl } = reading.challenge;
  const words = wordsOf(said, kit);
  const flaws: Flaw[] = [];
  const stated = kit.show(value['x402Version']);
  if (version === 1) flaws.push(['version-1', `/x402Version: ${stated}`]);
  else if (stated !== '2') flaws.push(['wrong-version', `/x402Version: ${stated}${words}`]);
  if (offers.length === 0) {
    flaws.push(['no-accepts', `/accepts: ${kit.show(value['accepts'])}${words}`]);
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

function illTyped(challenge: Challenge, kit: Kit): readonly Flaw[] {
  return kit.illTyped(challenge).map(({ pointer, value }): Flaw => {
    return ['clients-differ', `${pointer}: ${kit.show(value)}: ${TYPED}`];
  });
}

function judgeUrl(written: string, origin: Origin, tool: ToolFacts | undefined): Kind | null {
  const isRelative = RELATIVE.test(written);
  const url = URL.parse(written, isRelative ? origin.url : undefined);
  if (tool !== undefined && url?.protocol === 'mcp:') {
    // "mcp://tool/NAME" as the SDKs write it, or the address of the server.
    return url.host === 'tool' || url.hostname === origin.hostname ? null : 'other-host';
  }
  // The seller sends over HTTP the URL that the transport over MCP prints.
  if (url?.protocol === 'mcp:') return 'other-host';
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return 'bad-resource-url';
  if (url.hostname !== origin.hostname) return 'other-host';
  if (isRelative) return 'relative-url';
  return url.protocol === 'https:' || origin.scheme === 'http' ? null : 'http-url';
}

function judgeOffers(
  challenge: Challenge,
  said: ResourcePayability | null,
  kit: Kit,
): readonly Judged[] {
  return challenge.offers.map((offer) => {
    const verdict = said?.offers.find(({ pointer }) => pointer === offer.pointer) ?? null;
    const faults = kit.offerFaults(offer, challenge.version);
    const [first] = faults;
    if (first !== undefined) {
      const texts = faults.map((fault) => kit.describeFault(fault));
      const isSigned = verdict?.words?.startsWith('clients sign it') ?? false;
      const words = isSigned ? SIGNED_ALL_THE_SAME : wordsOf(verdict, kit);
      const evidence = [`${texts[0]}${words}`, ...texts.slice(1)];
      return { offer, kind: first.kind, isUnsound: true, texts: evidence };
    }
    const named = kit.named(offer);
    if (named !== null) {
      return { offer, kind: null, isUnsound: false, isNamed: true, texts: [named] };
    }
    const [kind, text] = judgeSound(offer, challenge.version, verdict, kit) ?? [null, null];
    const texts = [text ?? passiveText(offer, kit)].filter((one) => one !== null);
    return { offer, kind, isUnsound: false, texts };
  });
}

/** The reason why an offer that the specification allows cannot be paid, or not be judged. */
function judgeSound(
  offer: Offer,
  version: Challenge['version'],
  said: OfferPayability | null,
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
    const isKnown = row.methods?.some((one) => one === method) ?? false;
    const place = isKnown ? `in ${row.specification?.file}` : 'unknown to this catalog';
    return [
      'client-refuses',
      `${pointer}/extra/assetTransferMethod: ${kit.show(method)} is ${place}, and no official client pays by it${wordsOf(said, kit)}`,
    ];
  }
  if (said?.verdict === 'refuses') {
    const place = refusedPlace(offer, said.words ?? '', kit);
    return [
      'client-refuses',
      `${row.specification?.file} allows ${place}, and the official client refuses it${wordsOf(said, kit)}`,
    ];
  }
  const known = kit.asset(String(network), String(asset));
  // A price over the default limit is the buyer's to decide.
  if (said?.verdict === 'limited' && known === null) {
    return ['unusual-asset', `${pointer}/asset: ${kit.show(asset)}${wordsOf(said, kit)}`];
  }
  const seconds = Number(maxTimeoutSeconds);
  if (seconds >= MIN_TIMEOUT_SECONDS && seconds <= MAX_TIMEOUT_SECONDS) return null;
  return ['timeout', `${pointer}/maxTimeoutSeconds: ${kit.show(maxTimeoutSeconds)}`];
}

/** The member that the client's words name, by its value or its name; else the offer. */
function refusedPlace({ pointer, entry, extra }: Offer, words: string, kit: Kit): string {
  const top = Object.entries(kit.object(entry)).filter(([name]) => name !== 'extra');
  const inExtra = Object.entries(kit.object(extra)).map(
    ([name, value]) => [`extra/${name}`, value] as const,
  );
  const named = [...top, ...inExtra].find(([name, value]) => {
    const isQuoted =
      typeof value === 'string' && value.length >= MIN_QUOTED_CHARS && words.includes(value);
    return isQuoted || (name.startsWith('extra/') && words.includes(name.slice('extra/'.length)));
  });
  return named === undefined ? pointer : `${pointer}/${named[0]}: ${kit.show(named[1])}`;
}

/** Sound by its specification only; null if a client here has the scheme. */
function passiveText(offer: Offer, kit: Kit): string | null {
  const row = kit.scheme(offer);
  if (row === null || row.client !== null) return null;
  const pair = `${kit.show(offer.scheme)} on ${kit.show(offer.network)}`;
  return `${offer.pointer}: ${pair} is judged by ${row.specification?.file}; no client that we run pays it`;
}

function flawsOf(offers: readonly Judged[], said: ResourcePayability | null): readonly Flaw[] {
  const flawed = offers.filter(({ kind }) => kind !== null);
  const isSold = offers.some(
    ({ kind, isNamed }) => (kind === null && isNamed !== true) || kind === 'timeout',
  );
  const isMild = offers.some(({ isUnsound }) => !isUnsound);
  const hinders = said === null || said.payableBy !== 'default';
  const nameOf = (one: Judged): Kind | null => {
    const { kind, isUnsound } = one;
    if (kind === null || kind === 'timeout') return kind;
    if (isUnsound && !isSold) return isMild ? 'unsound-offer' : kind;
    if (isUnsound) return hinders ? 'unsound-offer' : null;
    if (!isSold) return kind;
    // Clients skip what they do not know; what they know and refuse may be what they choose.
    return kind === 'client-refuses' && hinders && said !== null ? kind : null;
  };
  return flawed.flatMap((one): readonly Flaw[] => {
    const name = nameOf(one);
    return name === null ? [] : one.texts.map((text): Flaw => [name, text]);
  });
}

function wordsOf(said: Pick<OfferPayability, 'words'> | null, kit: Kit): string {
  if (said === null || said.words === null) return '';
  // Words of ours about the whole challenge; the finding names the member itself.
  if (said.words.startsWith('some clients sign it')) return '';
  return ` (the official client says ${kit.quote(said.words, MAX_WORDS)})`;
}

function short(texts: readonly string[]): string {
  const rest = texts.length - MAX_NAMED;
  return texts.slice(0, MAX_NAMED).join('; ') + (rest > 0 ? `; ${rest} more` : '');
}
