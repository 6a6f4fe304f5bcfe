/** P6: each resource asks for the price that its documents declare. Rule and sources: README.md. */
import {
  defineCheck,
  type Finding,
  type Found,
  fail,
  listed,
  NAMED_SUMMARY,
  notDetermined,
  pass,
  type Seen,
  warn,
  worstOf,
} from '#check';
import type { Kit } from '#kit';
import type { ChallengedResource, Offer } from '#parse/challenge';

const NEEDS = [
  'origin',
  'openapi',
  'openapiAlternates',
  'manifest',
  'manifestJson',
  'soft404',
  'resources',
] as const;

const CONTRADICTION_FIX =
  'Say the same in OpenAPI and manifest: the price in both, or a price of 0 in both.';
const TOOL_FIX = 'State the price of the tool in _meta["agents-x402/priceUSD"], in dollars.';

const OUTCOMES = {
  'malformed-amount': fail('Write amount as a positive whole number of base units, as text.'),
  'malformed-asset': fail('Set asset to the address of the token on the network of the offer.'),
  'probes-differ': fail('Declare the range of a dynamic price: mode "dynamic" with min and max.'),
  mismatch: fail('Build route, OpenAPI and manifest from one constant for the price.'),
  'out-of-range': warn(
    'Widen min and max of the declared price, or keep the live price within them.',
  ),
  'unknown-decimals': warn('Offer a well-known stablecoin too, such as USDC on Base.'),
  undeclared: warn('Declare the price of each paid operation in x-payment-info of /openapi.json.'),
  'no-offer': notDetermined('Correct what P3 names first.'),
  named: notDetermined('Offer "exact" on Base or Solana too, whose prices can be compared.'),
  unknown: notDetermined('Offer "exact" on Base or Solana too, whose prices can be compared.'),
  ceiling: pass('Keep the declared max of the dynamic price at or above each ceiling.'),
  agrees: pass('Keep one constant for each price.'),
};
/** A contradiction of the documents does not replace these findings. */
const WORSE_THAN_MISMATCH: ReadonlySet<string> = new Set([
  'malformed-amount',
  'malformed-asset',
  'probes-differ',
]);
type Flaw = Found<keyof typeof OUTCOMES>;
type Facts = Seen<(typeof NEEDS)[number]>;
type Result = Finding<keyof typeof OUTCOMES>;

export default defineCheck({
  id: 'P6',
  version: 1,
  says: {
    right: 'Each resource asks for the price that its documents declare.',
    wrong:
      'Some resources ask for another price than their documents declare, or no price is declared.',
    unjudged: 'It is not known whether resources ask for the price that their documents declare.',
  },
  needs: NEEDS,
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate(seen, kit) {
    const finding = worstOf(
      OUTCOMES,
      seen.resources,
      kit,
      (item) => inspect(item, seen, kit),
      (count, challenged) => {
        // The notes also name offers that `judgedOffers` leaves out.
        const notes = challenged.flatMap((item) => {
          const { offers } = item.reading.challenge;
          const { unknownDecimals } = compareOpenApi(offers, item, seen, kit);
          return unknownDecimals.map((offer) => describeUncompared(offer, kit));
        });
        const uncompared = notes.length > 0 ? `; not compared: ${listed(notes)}` : '';
        return ['agrees', `${count} ask for the declared price${uncompared}`];
      },
      [
        ['no-offer', kit.noOffer, 'without an offer that can be read'],
        ['named', kit.namedOnly, NAMED_SUMMARY],
        ['unknown', kit.unknownOnly, 'unknown to this catalog'],
      ],
    );
    return addUnread(addContradictions(finding, findContradictions(seen, kit)), seen, kit);
  },
});

/** Lists the operations that one document prices and the other calls free. */
function findContradictions(seen: Facts, kit: Kit): readonly string[] {
  const [openapi, manifest] = [kit.openapi(seen), kit.manifest(seen)];
  if (openapi.state !== 'found' || manifest.state !== 'found') return [];
  const contradictions = kit.priceContradictions(openapi.facts, manifest.facts, seen.origin.url);
  return contradictions.map(({ method, path, operation, entry, freeIn, stated }) => {
    const price = stated === null ? 'a price' : `the price ${kit.quote(stated, 40)}`;
    const statements = [`declares ${price}`, 'declares it free'];
    const [inOpenApi, inManifest] = freeIn === 'openapi' ? statements.toReversed() : statements;
    const place = `${openapi.path}#${kit.quote(operation)} ${inOpenApi}`;
    return `${kit.request(method, path)}: ${place}, the manifest at ${entry} ${inManifest}`;
  });
}

/** A contradiction replaces a lesser finding. In a mismatch, it precedes the evidence of the challenges. */
function addContradictions(finding: Result, contradictions: readonly string[]): Result {
  if (contradictions.length === 0) return finding;
  const text = listed(contradictions);
  // Only the findings that all checks share have the member `outcome`, for example if no challenge was seen.
  if ('outcome' in finding) return ['mismatch', text, CONTRADICTION_FIX];
  const [outcome, evidence] = finding;
  if (WORSE_THAN_MISMATCH.has(outcome)) return finding;
  return ['mismatch', outcome === 'mismatch' ? `${text}; ${evidence}` : text, CONTRADICTION_FIX];
}

/** Says that a document whose content we do not know was not compared. */
function addUnread(finding: Result, seen: Facts, kit: Kit): Result {
  const openapi = kit.openapi(seen);
  if (openapi.state !== 'unread' || 'outcome' in finding) return finding;
  const [name, evidence, fix] = finding;
  return [name, `${evidence}; not compared: ${openapi.evidence}`, fix];
}

function inspect(item: ChallengedResource, seen: Facts, kit: Kit): readonly Flaw[] {
  const { reading, second: laterChallenge, resource } = item;
  const offers = kit.judgedOffers(reading.challenge);
  const laterOffers = laterChallenge === null ? [] : kit.judgedOffers(laterChallenge);
  const { version } = reading.challenge;
  const faults = [...offers, ...laterOffers].flatMap((offer) => listFaults(offer, version, kit));
  if (faults.length > 0) return faults;

  const { isRange } = compareOpenApi(offers, item, seen, kit);
  const [terms, laterTerms] = [offers, laterOffers].map((list) => describeTerms(list, kit));
  if (laterChallenge !== null && terms !== laterTerms && !isRange) {
    return [['probes-differ', `asks ${terms}, then ${laterTerms}`]];
  }
  // In a range the price may differ from request to request, so the later offers are compared too.
  const comparedOffers = isRange ? [...offers, ...laterOffers] : offers;
  const { prices, unknownDecimals } = compareOpenApi(comparedOffers, item, seen, kit);
  const otherPrices = [...compareManifest(item, seen, kit), ...compareTool(item, kit)];
  // Manifest and tool state a fixed price, which says nothing of a range.
  const comparedPrices = isRange ? prices : [...prices, ...otherPrices];
  const flaws: Flaw[] = [
    ...comparedPrices
      .filter(({ agrees }) => !agrees)
      .map(({ live, place, stated }): Flaw => {
        const text = `asks ${live} base units, ${place} ${stated}`;
        return [isRange ? 'out-of-range' : 'mismatch', text];
      }),
    // If another price was compared, an offer in an unknown token is only a note.
    ...(comparedPrices.length > 0 ? [] : unknownDecimals).map((offer): Flaw => {
      return ['unknown-decimals', describeUncompared(offer, kit)];
    }),
  ];
  if (flaws.length > 0) return flaws;

  const ceilings = offers.filter(({ scheme }) => kit.amountKind(scheme) === 'ceiling');
  if (comparedPrices.length === 0 && ceilings.length < offers.length) {
    return resource.tool === undefined
      ? [['undeclared', 'has no price in OpenAPI or manifest that can be compared']]
      : [['undeclared', 'has no price in tools/list that can be compared', TOOL_FIX]];
  }
  return ceilings.map(({ pointer, amount }) => {
    return ['ceiling', `${pointer} asks for up to ${kit.show(amount)} base units`];
  });
}

function describeUncompared({ pointer, asset, network }: Offer, kit: Kit): string {
  return `${pointer} asks ${kit.show(asset)} on ${kit.show(network)}, whose decimals are unknown`;
}

/**
 * Compares offers of a resource with the prices that OpenAPI declares for it. `isRange` is true if it declares a dynamic
 * price; `unknownDecimals` are offers whose price cannot be compared.
 */
function compareOpenApi(offers: readonly Offer[], item: ChallengedResource, seen: Facts, kit: Kit) {
  const openapi = kit.openapi(seen);
  if (openapi.state !== 'found') return { isRange: false, prices: [], unknownDecimals: [] };
  const terms = kit.openapiTerms(openapi.facts, item, offers);
  const prices = terms.prices.map((price) => {
    return { ...price, place: `${openapi.path}#${price.pointer} declares` };
  });
  return { ...terms, prices };
}

function compareManifest(item: ChallengedResource, seen: Facts, kit: Kit) {
  const manifest = kit.manifest(seen);
  if (manifest.state !== 'found') return [];
  const { prices } = kit.manifestTerms(manifest.facts, seen.origin.url, item);
  return prices.map(({ pointer, stated, ...price }) => {
    return { ...price, stated: kit.quote(stated), place: `the manifest at ${pointer}` };
  });
}

/** Compares the dollar price in tools/list with offers in assets that are worth a dollar. */
function compareTool({ resource, reading }: ChallengedResource, kit: Kit) {
  const price = resource.tool?.price ?? null;
  if (price === null) return [];
  return kit.judgedOffers(reading.challenge).flatMap((offer) => {
    const { network, asset, scheme, amount } = offer;
    const known = kit.asset(kit.text(network), kit.text(asset));
    const live = kit.amountKind(scheme) === 'price' ? kit.amount(amount) : null;
    const units = known === null ? null : kit.baseUnits(price.dollars, known.decimals);
    if (live === null || units === null) return [];
    const place = `tools/list at ${kit.quote(price.member)} declares`;
    const stated = kit.quote(price.dollars);
    return [{ live: String(live), agrees: live === units, stated, place }];
  });
}

function listFaults(offer: Offer, version: 1 | 2, kit: Kit): readonly Flaw[] {
  const { amount, asset, network, pointer } = offer;
  if (!kit.isAmount(offer)) {
    const name = version === 1 ? 'maxAmountRequired' : 'amount';
    const fix = `Write ${name} as a positive whole number of base units, as text.`;
    return [['malformed-amount', `${pointer}/${name} is ${kit.show(amount)}`, fix]];
  }
  const isText = typeof asset === 'string' && asset !== '';
  const form = isText ? kit.addressShape(kit.text(network), asset, 'asset') : 'malformed';
  if (form !== 'malformed' && form !== 'zero') return [];
  return [['malformed-asset', `${pointer}/asset is ${kit.show(asset)}`]];
}

/** Describes all offers in one text. Sorts the offers, because a seller may send another order each time. */
function describeTerms(offers: readonly Offer[], kit: Kit): string {
  const terms = offers.map(({ scheme, amount, asset, network }) => {
    const price = `${kit.show(amount)} of ${kit.show(asset)}`;
    return `${price} on ${kit.show(network)} by ${kit.show(scheme)}`.toLowerCase();
  });
  return terms.toSorted().join(', ');
}
