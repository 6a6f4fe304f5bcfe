/** P6: the price that is asked is the price that is declared. Rule and sources: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  pass,
  type Seen,
  warn,
  worstOf,
} from '../../src/engine/define-check.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';
import type { PriceDeclaration } from '../../src/parse/openapi/openapi.ts';
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
const AMOUNT = /^[1-9][0-9]{0,77}$/;
const DOLLARS: ReadonlySet<string> = new Set(['USD', 'USDC']);

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
  agrees: pass('Keep one constant for each price.'),
};
type Flaw = Found<keyof typeof OUTCOMES>;
type Needed = Seen<(typeof NEEDS)[number]>;
type Declared = {
  readonly min: string | null;
  readonly max: string | null;
  readonly isRange: boolean;
  /** MPP states base units; all others state dollars. */
  readonly isBaseUnits: boolean;
  readonly where: string;
};

export default defineCheck({
  id: 'P6',
  version: 1,
  says: {
    right: 'The price that is asked is the price that is declared.',
    wrong: 'The price that is asked is not the one that is declared, or none is declared.',
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
      (count) => ['agrees', `${count} ask what is declared`],
    );
  },
});

function inspect(one: ChallengedResource, seen: Needed, kit: Kit): readonly Flaw[] {
  const { challenge } = one.reading;
  const second = one.second?.offers ?? [];
  const malformed = [...challenge.offers, ...second].flatMap((offer) => faults(offer, kit));
  if (challenge.offers.length === 0) malformed.push(['malformed-amount', 'has an empty /accepts']);
  if (malformed.length > 0) return malformed;

  const declared = findDeclared(one, seen, kit);
  const isRange = declared?.isRange ?? false;
  const [first, then] = [challenge.offers, second].map((offers) => termsOf(offers, kit));
  if (one.second !== null && first !== then && !isRange) {
    return [['probes-differ', `asks ${first}, then ${then}`]];
  }
  const offers = isRange ? [...challenge.offers, ...second] : challenge.offers;
  const compared = declared ? offers.map((offer) => compare(offer, declared, kit)) : [];
  const found = compared.filter((result) => result !== null && result !== 'agrees');

  const manifest = kit.manifest(seen);
  const terms =
    manifest.state === 'found' && !isRange
      ? kit.manifestTerms(manifest.facts, seen.origin.url, one).prices
      : [];
  for (const { agrees, live, stated, pointer } of terms) {
    const place = `the manifest at ${pointer}`;
    if (!agrees) found.push(['mismatch', `asks ${live} base units, ${place} ${kit.quote(stated)}`]);
  }
  if (found.length > 0 || terms.length > 0 || compared.includes('agrees')) return found;
  return [['undeclared', 'has no price in OpenAPI or manifest that could be compared']];
}

function faults({ amount, asset, network, pointer }: Offer, kit: Kit): Flaw[] {
  if (typeof amount !== 'string' || !AMOUNT.test(amount)) {
    return [['malformed-amount', `${pointer} asks ${kit.show(amount)}`]];
  }
  const on = typeof network === 'string' ? network : '';
  const form = typeof asset === 'string' && asset !== '' ? kit.address(on, asset) : 'malformed';
  if (form !== 'malformed' && form !== 'zero') return [];
  return [['malformed-asset', `${pointer}/asset is ${kit.show(asset)}`]];
}

/** In any order: sellers list their offers as their language keeps them. */
function termsOf(offers: readonly Offer[], kit: Kit): string {
  const terms = offers.map(({ amount, asset, network }) => {
    const [much, what, where] = [amount, asset, network].map((value) => kit.show(value));
    return `${much} of ${what} on ${where}`.toLowerCase();
  });
  return terms.toSorted().join(', ');
}

/** The price of the operation in OpenAPI; null where it states none that can be compared. */
function findDeclared(
  { resource, probe }: ChallengedResource,
  seen: Needed,
  kit: Kit,
): Declared | null {
  const openapi = kit.openapi(seen);
  if (openapi.state !== 'found') return null;
  const method = resource.method ?? probe.method;
  const price = openapi.facts.operations.find(
    (one) =>
      one.method === method &&
      (one.template === resource.template || one.requestPath === resource.path),
  )?.price;
  const bounds = price ? boundsOf(price) : null;
  if (!price || bounds === null) return null;
  return { ...bounds, where: `${openapi.path}#${price.pointer}` };
}

function boundsOf(price: PriceDeclaration): Omit<Declared, 'where'> | null {
  if ('currency' in price && !DOLLARS.has(price.currency.toUpperCase())) return null;
  const range =
    price.kind === 'dynamic' ? price : price.kind === 'legacy' ? price.range : undefined;
  if (range !== undefined) {
    const { min, max } = range;
    return min === null && max === null ? null : { min, max, isRange: true, isBaseUnits: false };
  }
  if (price.kind === 'dynamic' || price.amount === null) return null;
  const isBaseUnits = price.kind === 'mpp';
  return { min: price.amount, max: price.amount, isRange: false, isBaseUnits };
}

/** Null where the declared price is no number in the units of the asset. */
function compare(offer: Offer, declared: Declared, kit: Kit): Flaw | 'agrees' | null {
  const { amount, asset, network, pointer } = offer;
  const known =
    typeof network === 'string' && typeof asset === 'string' ? kit.asset(network, asset) : null;
  if (known === null && !declared.isBaseUnits) {
    return ['unknown-decimals', `${pointer} asks ${kit.show(asset)} on ${kit.show(network)}`];
  }
  const decimals = declared.isBaseUnits ? 0 : (known?.decimals ?? 0);
  const [min, max] = [declared.min, declared.max].map((bound) =>
    bound === null ? null : kit.baseUnits(bound, decimals),
  );
  if (typeof min !== 'bigint' && typeof max !== 'bigint') return null;
  const live = BigInt(String(amount));
  const isWithin =
    (typeof min !== 'bigint' || live >= min) && (typeof max !== 'bigint' || live <= max);
  if (isWithin) return 'agrees';
  const bounds = declared.isRange ? `${min ?? 0} to ${max ?? 'any'}` : String(min);
  const text = `asks ${live} base units, ${declared.where} declares ${bounds}`;
  return [declared.isRange ? 'out-of-range' : 'mismatch', text];
}
