/** A scan that asks the listed resources only, and judges their answers by the recipient that the farm has. */
import type { Origin } from '../../../../src/scanner/guard/origin.ts';
import type { HttpObservation, Observations } from '../../../../src/scanner/model/observations.ts';
import {
  createProbeClient,
  type ProbeClientOptions,
} from '../../../../src/scanner/probe/client/client.ts';
import type {
  CensusResource,
  OriginScanOptions,
  ScanOutcome,
} from '../../../../src/scanner/scan/scanner.ts';
import {
  perfectSeller,
  resource,
  resources,
} from '../../../fixtures/observations/build-observations.ts';
import { SELLER_PAY_TO } from '../../../fixtures/sellers/seller.ts';
import type { FakeScanner } from '../../../scanner/scan/fake-scanner.ts';
import { unreachedSeller } from '../census-rig.ts';

export type PlainScanOptions = Omit<ProbeClientOptions, 'signal'> & {
  readonly fake: FakeScanner;
  /** The operations that the documents of a host sell. */
  readonly findSold: (host: string) => readonly CensusResource[];
};

export type PlainScan = (origin: Origin, options?: OriginScanOptions) => Promise<ScanOutcome>;

const MAX_RESOURCES = 6;
const CAP_BYTES = 64 * 1_024;

export function createPlainScan({ fake, findSold, ...options }: PlainScanOptions): PlainScan {
  return async (origin, wanted) => {
    const client = createProbeClient(options);
    const answered: (readonly [CensusResource, HttpObservation])[] = [];
    const common = { origin, redirects: 'same-origin', capBytes: CAP_BYTES } as const;
    let root: HttpObservation;
    try {
      await wanted?.census?.beforeRequest();
      root = await client.request({ ...common, method: 'GET', path: '/' });
      const sold = findSold(origin.host);
      const listed = wanted?.census?.listed ?? [];
      const isSold = (one: CensusResource) =>
        sold.some(({ method, path }) => method === one.method && path === one.path);
      const others = listed.filter((one) => one.method === 'GET' && !isSold(one));
      for (const one of [...sold, ...others].slice(0, MAX_RESOURCES)) {
        await wanted?.census?.beforeRequest();
        const body = one.method === 'POST' ? { body: '{}' as const } : {};
        answered.push([one, await client.request({ ...common, ...one, ...body })]);
      }
    } finally {
      client.close();
    }
    const sold = findSold(origin.host);
    fake.will(origin.host, {
      ...{ observations: toObservations(root, answered), sold },
      report: { payability: toPayability(answered) },
    });
    return fake.scan(origin, wanted);
  };
}

function toObservations(
  root: HttpObservation,
  answered: readonly (readonly [CensusResource, HttpObservation])[],
): Observations {
  const probed = answered.map(([{ method, path }, answer]) => ({
    ...resource({ method, path }),
    probes: [{ method, number: 1 as const, answer }],
  }));
  return {
    ...(root.ok ? perfectSeller() : unreachedSeller(root)),
    resources: resources(probed),
    payability: { clients: [], resources: toPayability(answered), silent: [] },
  };
}

function toPayability(answered: readonly (readonly [CensusResource, HttpObservation])[]) {
  const challenged = answered.filter(([, answer]) => isOurs(answer));
  return challenged.map(([{ method, path }]) => ({
    ...{ method, path, payableBy: 'default' as const, words: null, offers: [] },
  }));
}

/** True for a challenge that pays the farm's account. */
function isOurs(answer: HttpObservation): boolean {
  if (!answer.ok || answer.data.status !== 402) return false;
  const header = answer.data.headers.find(([name]) => name === 'payment-required')?.[1] ?? '';
  return Buffer.from(header, 'base64').toString().includes(SELLER_PAY_TO);
}
