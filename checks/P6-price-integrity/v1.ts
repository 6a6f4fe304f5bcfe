/** P6: the price that is asked is the price that is declared. Rule and sources: README.md. */
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
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { ChallengedResource, Offer } from '../../src/parse/x402/challenge.ts';

const NEEDS = [
  'origin',
  'openapi',
  'openapiAlternates',
  'manifest',
  'manifestJson',
  'soft404',
  'resources',
] as const;

const TOOL_FIX = 'State the price of the tool in _meta["agents-x402/priceUSD"], in dollars.';

const OUTCOMES = {
  'malformed-amount': fail('Write amount as a positive whole number of base units, as text.'),
  'malformed-asset': fail("Name the asset by its token's address on that network."),
  'probes-differ': fail('Declare the range of a dynamic price: mode "dynamic" with min and max.'),
  mismatch: fail('Take the price of route, OpenAPI and manifest from one constant.'),
  'out-of-range': warn(
    'Widen min and max of the declared price, or keep the live price within them.',
  ),
  'unknown-decimals': warn('Offer a well-known stablecoin, such as USDC on Base, as well.'),
  undeclared: warn('Declare the price of each paid operation in x-payment-info of /openapi.json.'),
  named: notDetermined('Offer "exact" on Base or Solana too, whose prices can be compared.'),
  ceiling: pass('Keep the declared max of the dynamic price at or above each ceiling.'),
  agrees: pass('Keep one constant for each price.'),
};
type Flaw = Found<keyof typeof OUTCOMES>;
type Needed = Seen<(typeof NEEDS)[number]>;

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
    return worstOf(
      OUTCOMES,
      seen.resources,
      kit,
      (one) => inspect(one, seen, kit),
      (count) => ['agrees', `${count} ask for the declared price`],
      'named',
    );
  },
});

function inspect(one: ChallengedResource, seen: Needed, kit: Kit): readonly Flaw[] {
  const { challenge } = one.reading;
  if (challenge.offers.length === 0) return [['malformed-amount', 'has an empty /accepts']];
  const first = kit.judgedOffers(challenge);
  const second = one.second === null ? [] : kit.judgedOffers(one.second);
  const faults = new Map(
    [...first, ...second].flatMap((offer) => {
      const flaw = faultOf(offer, kit);
      return flaw === null ? [] : [[flaw[1], flaw] as const];
    }),
  );
  if (faults.size > 0) return [...faults.values()];

  const declared = termsIn(seen, one, kit);
  const { isRange } = declared(first);
  const [price, laterPrice] = [first, second].map((all) => termsOf(all, kit));
  if (one.second !== null && price !== laterPrice && !isRange) {
    return [['probes-differ', `asks ${price}, then ${laterPrice}`]];
  }
  const { prices, unknownDecimals } = declared(isRange ? [...first, ...second] : first);
  const elsewhere = isRange ? [] : [...manifestPrices(one, seen, kit), ...toolPrices(one, kit)];
  const compared = [...prices, ...elsewhere];
  const flaws: Flaw[] = [
    ...compared
      .filter(({ agrees }) => !agrees)
      .map(({ live, place, stated }): Flaw => {
        const text = `asks ${live} base units, ${place} ${stated}`;
        return [isRange ? 'out-of-range' : 'mismatch', text];
      }),
    ...unknownDecimals.map(({ pointer, asset, network }): Flaw => {
      return ['unknown-decimals', `${pointer} asks ${kit.show(asset)} on ${kit.show(network)}`];
    }),
  ];
  // Two probes mostly say the same.
  if (flaws.length > 0) return [...new Map(flaws.map((flaw) => [flaw[1], flaw])).values()];

  const ceilings = first.filter(({ scheme }) => kit.amountKind(scheme) === 'ceiling');
  if (compared.length === 0 && ceilings.length < first.length) {
    return one.resource.tool === undefined
      ? [['undeclared', 'has no price in OpenAPI or manifest to compare with']]
      : [['undeclared', 'has no price in tools/list to compare with', TOOL_FIX]];
  }
  return ceilings.map(({ pointer, amount }) => {
    return ['ceiling', `${pointer} asks for up to ${kit.show(amount)} base units`];
  });
}

/** Compares the prices that OpenAPI declares for the resource with some of its offers. */
function termsIn(seen: Needed, one: ChallengedResource, kit: Kit) {
  const openapi = kit.openapi(seen);
  return (offers: readonly Offer[]) => {
    if (openapi.state !== 'found') return { isRange: false, prices: [], unknownDecimals: [] };
    const terms = kit.openapiTerms(openapi.facts, one, offers);
    const prices = terms.prices.map((price) => {
      return { ...price, place: `${openapi.path}#${price.pointer} declares` };
    });
    return { ...terms, prices };
  };
}

function manifestPrices(one: ChallengedResource, seen: Needed, kit: Kit) {
  const manifest = kit.manifest(seen);
  if (manifest.state !== 'found') return [];
  const { prices } = kit.manifestTerms(manifest.facts, seen.origin.url, one);
  return prices.map(({ pointer, stated, ...price }) => {
    return { ...price, stated: kit.quote(stated), place: `the manifest at ${pointer}` };
  });
}

/** Compares the dollar price of tools/list with offers in assets that are worth a dollar. */
function toolPrices({ resource, reading }: ChallengedResource, kit: Kit) {
  const price = resource.tool?.price ?? null;
  if (price === null) return [];
  return kit.judgedOffers(reading.challenge).flatMap((offer) => {
    const { network, asset, scheme, amount } = offer;
    const known = kit.asset(kit.text(network), kit.text(asset));
    const live = kit.amountKind(scheme) === 'price' ? kit.amount(amount) : null;
    const due = known === null ? null : kit.baseUnits(price.dollars, known.decimals);
    if (live === null || due === null) return [];
    const place = `tools/list at ${kit.quote(price.member)} declares`;
    return [{ live: String(live), agrees: live === due, stated: kit.quote(price.dollars), place }];
  });
}

function faultOf(offer: Offer, kit: Kit): Flaw | null {
  const { amount, asset, network, pointer } = offer;
  if (!kit.isAmount(offer)) return ['malformed-amount', `${pointer} asks ${kit.show(amount)}`];
  const on = typeof network === 'string' ? network : '';
  const isText = typeof asset === 'string' && asset !== '';
  const form = isText ? kit.address(on, asset, 'asset') : 'malformed';
  if (form !== 'malformed' && form !== 'zero') return null;
  return ['malformed-asset', `${pointer}/asset is ${kit.show(asset)}`];
}

/** Sorted, because sellers list their offers as their language keeps them. */
function termsOf(offers: readonly Offer[], kit: Kit): string {
  const terms = offers.map(({ scheme, amount, asset, network }) => {
    const [much, what, where] = [amount, asset, network].map((value) => kit.show(value));
    return `${much} of ${what} on ${where} by ${kit.show(scheme)}`.toLowerCase();
  });
  return terms.toSorted().join(', ');
}
