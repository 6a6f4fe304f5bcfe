/** The listed sellers. Each process builds the same sellers from the same numbers. */
import { diceOf, oneOf } from '../../../fixtures/dice.ts';
import { lookTimeMs } from '../census-rig.ts';
import { BARE, KINDS, type Kind, numberOf, PATHS } from './kinds.ts';

export type Size = {
  readonly seed: number;
  /** Sellers beside the two farms and the leavers. */
  readonly origins: number;
  /** All looks fall into these hours of the day. */
  readonly hours: readonly [number, number];
};

export type Seller = {
  readonly name: string;
  readonly domain: string;
  readonly address: string;
  readonly kindName: string;
  readonly kind: Kind;
  readonly method: 'GET' | 'POST';
  /** Paths in the listings. */
  readonly paths: readonly string[];
  readonly sources: ReadonlySet<'bazaar' | 'x402scan' | 'file'>;
  readonly standing: 'asked' | 'farm' | 'leaver';
  /** The owner leaves during this request of the census, counted from the first one. */
  readonly leavesAt: number | null;
};

export const HOUR_MS = 3_600_000;
/** Number of sellers in a thousand that share a domain or a /24. */
const IN_GROUPS = 100;
const GROUP = 5;
const BARE_SHARE = 10;
/** Over nine days a seller gets about as many requests: of looks, and of the scan in between. */
const LEAVERS = 20;
const FARMS = ['farm-one.example', 'farm-two.example'] as const;
/** The farms have 88 % of all listings. */
const FARM_LISTINGS = 0.88 / 0.12;
const FARM_ROWS_A_HOST = 8;

export function sellersOf({ seed, origins, hours }: Size): readonly Seller[] {
  const dice = diceOf(seed);
  const sellers: Seller[] = [];
  const names = new Names(hours);
  const add = (
    name: string,
    standing: Seller['standing'],
    given?: [string, Kind],
    leavesAt: number | null = null,
  ) => {
    const [kindName, kind] = given ?? kindFor(dice.below(1_000));
    const paths = PATHS.slice(0, kind.resources ?? 2);
    const listed = oneOf(dice, [['bazaar'], ['bazaar', 'x402scan'], ['x402scan']] as const);
    const isBare = paths.length === 0;
    sellers.push({
      ...{ name, kindName, kind, paths, standing, leavesAt },
      domain: name.split('.').slice(-2).join('.'),
      address: addressAt(sellers.length),
      method: kind.method ?? 'GET',
      sources: new Set(isBare ? ['file'] : listed),
    });
  };
  for (let n = 0; n < origins; n += 1) {
    const isGrouped = numberOf(`group ${n}`) < IN_GROUPS;
    const suffix = isGrouped ? `group-${Math.floor(n / 10 / GROUP)}.example` : `shop-${n}.example`;
    const isBare = numberOf(`bare ${n}`) < BARE_SHARE;
    add(names.under(suffix), 'asked', isBare ? ['bare', BARE] : undefined);
  }
  for (let n = 1; n <= LEAVERS; n += 1) {
    const kind: Kind = { ...payable(), isDeclared: true };
    add(names.under(`leaver-${n}.example`), 'leaver', ['payable', kind], n);
  }
  const farmHosts = Math.ceil((origins * 1.6 * FARM_LISTINGS) / FARM_ROWS_A_HOST);
  for (let n = 0; n < farmHosts; n += 1) {
    add(names.under(FARMS[n % 2] ?? FARMS[0]), 'farm', ['payable', payable()]);
  }
  return sellers;
}

function payable(): Kind {
  const kind = KINDS['payable'];
  if (kind === undefined) throw new Error('no such kind');
  return kind;
}

function kindFor(roll: number): [string, Kind] {
  let left = roll;
  for (const [name, kind] of Object.entries(KINDS)) {
    if (left < kind.share) return [name, kind];
    left -= kind.share;
  }
  return ['payable', payable()];
}

/** A network of its own for each seller, but for some that share one. */
function addressAt(n: number): string {
  const isShared = numberOf(`network ${n}`) < 50;
  const network = isShared ? Math.floor(n / 100) : n;
  return `127.${(isShared ? 60 : 1) + (network >> 8)}.${network & 255}.${1 + (n % 250)}`;
}

class Names {
  readonly #hours: readonly [number, number];
  #n = 0;

  constructor(hours: readonly [number, number]) {
    this.#hours = hours;
  }

  /** A new name whose second of the day lies in the hours. */
  under(suffix: string): string {
    const [from, to] = this.#hours;
    for (;;) {
      this.#n += 1;
      const name = `a${this.#n}.${suffix}`;
      const hour = lookTimeMs(name, 0) / HOUR_MS;
      if (hour >= from && hour < to) return name;
    }
  }
}

/** The listed URL has port 80. The census's connector dials the farm's port instead. */
export function urlOf({ name }: Pick<Seller, 'name'>): string {
  return `http://${name}`;
}

/** Rows of the indexes; a farm lists many on each host. */
export function listingsOf(sellers: readonly Seller[]) {
  return sellers.flatMap((seller) => {
    const rows = seller.standing === 'farm' ? FARM_ROWS_A_HOST : seller.paths.length;
    return Array.from({ length: rows }, (_, at) => ({
      url: urlOf(seller) + (seller.paths[at] ?? `/more/${at}`),
      method: seller.method,
      sources: seller.sources,
    }));
  });
}
