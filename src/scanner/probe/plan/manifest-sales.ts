/** Decides what each entry of a manifest sells. OpenAPI may contradict the entry. */
import type { Kit } from '../../parse/kit/kit.ts';
import type { Operation } from '../../parse/openapi/openapi.ts';
import { isLocalHost, removeQuery, toTemplateKey } from '../../parse/openapi/openapi-path.ts';
import type { ManifestEntry } from '../../parse/x402/manifest.ts';
import { type DeclaredRequests, findPathOnOrigin, type PostRule } from './declared-requests.ts';
import { findExample } from './find-price-lists.ts';

/** Documents that every scan requests. None of them is for sale. */
export const DISCOVERY_PATH =
  /^\/(?:\.well-known\/.*|(?:api\/)?openapi\.(?:json|ya?ml)|swagger\.json|llms(?:-full)?\.txt|robots\.txt|favicon\.\w+)$/is;

export type ManifestSale = {
  readonly template: string;
  readonly method: string | null;
  /** False for a candidate: its method is GET, and only a 402 can show that it is sold. */
  readonly declaredPaid: boolean;
  readonly post: PostRule;
  /** The template with values that the manifest states beside it; absent if it states none. */
  readonly example?: string;
};

type LocalEntry = Pick<ManifestSale, 'template' | 'example'> & { readonly entry: ManifestEntry };

export class ManifestSales {
  readonly #entries: readonly LocalEntry[];
  readonly #declared: DeclaredRequests;
  /** Methods of a path that an entry calls free: "POST /verify", and "* /verify" for every method. */
  readonly #freeKeys = new Set<string>();

  constructor(
    entries: readonly ManifestEntry[],
    declared: DeclaredRequests,
    originUrl: string,
    kit: Kit,
  ) {
    this.#declared = declared;
    this.#entries = entries.flatMap((entry) => {
      const findPath = (reference: string) => findPathOnOrigin(originUrl, reference, kit);
      const url = URL.parse(entry.target);
      // A manifest that was written on a developer's machine names that machine.
      const isHere = url !== null && isLocalHost(url.hostname, new URL(originUrl).hostname);
      const template = findPath(isHere ? url.pathname + url.search : entry.target);
      if (template === null || entry.sale === 'base') return [];
      const example = findExample(template, entry.examples ?? [], findPath);
      return [{ entry, template, ...(example === null ? {} : { example }) }];
    });
    for (const { entry, template } of this.#entries) {
      if (entry.sale === 'free' || entry.sale === 'both') {
        this.#freeKeys.add(`${entry.method ?? '*'} ${toTemplateKey(template)}`);
      }
    }
  }

  /** Number of entries on this origin. */
  get size(): number {
    return this.#entries.length;
  }

  list(): readonly ManifestSale[] {
    return this.#entries.flatMap((local) => {
      const example = local.example === undefined ? {} : { example: local.example };
      return this.#toSales(local).map((sale) => ({ ...sale, ...example }));
    });
  }

  /** True if an entry says that nothing is asked for this operation. */
  isFree({ method, template, route, requestPath }: Operation): boolean {
    const paths = [template, route, requestPath, removeQuery(requestPath)];
    return paths.some((path) => this.#isCalledFree(method, path));
  }

  /** True if OpenAPI sells the operation. If an entry calls it free, OpenAPI must state a price. */
  isSold(operation: Operation): boolean {
    const isPaid = operation.paid && !operation.signIn;
    return isPaid && (!this.isFree(operation) || statesPrice(operation));
  }

  #isCalledFree(method: string, path: string): boolean {
    const key = toTemplateKey(path);
    return this.#freeKeys.has(`${method} ${key}`) || this.#freeKeys.has(`* ${key}`);
  }

  /** Returns one sale, or none for a document that every scan requests. */
  #toSales({ entry, template }: LocalEntry): readonly ManifestSale[] {
    const { method, sale } = entry;
    const methods = method === null ? ['GET', 'POST'] : [method];
    const operations = methods.flatMap(
      (each) => this.#declared.findOperation(template, each) ?? [],
    );
    const candidate = { template, method: 'GET', declaredPaid: false, post: 'never' } as const;
    if (sale === 'free') {
      // The entry says free and OpenAPI states a price: the documents contradict each other.
      return operations.some(statesPrice)
        ? [{ ...candidate, method, declaredPaid: true }]
        : [candidate];
    }
    const isFreeInOpenApi = operations.length > 0 && operations.every(({ free }) => free);
    if (sale === undefined && isFreeInOpenApi) return [candidate];
    if (sale === undefined && DISCOVERY_PATH.test(template)) return [];
    // One document sells it, another calls it free: it counts as declared, but no POST is sent.
    const isDoubtful =
      sale === 'both' ||
      isFreeInOpenApi ||
      methods.some((each) => this.#isCalledFree(each, template));
    if (isDoubtful) return [{ template, method, declaredPaid: true, post: 'never' }];
    if (method !== null) return [{ template, method, declaredPaid: true, post: 'sold' }];
    return [this.#toSaleWithoutMethod(template)];
  }

  /** An entry without a method sells GET and POST, except what OpenAPI calls free. */
  #toSaleWithoutMethod(template: string): ManifestSale {
    const get = this.#declared.findOperation(template, 'GET');
    const post = this.#declared.findOperation(template, 'POST');
    const sale = { template, declaredPaid: true } as const;
    if (post?.free) return { ...sale, method: 'GET', post: 'never' };
    if (get?.free) return { ...sale, method: 'POST', post: 'sold' };
    const isSilent = post !== undefined && !post.paid;
    return { ...sale, method: null, post: isSilent ? 'if-get-is-unpaid' : 'sold' };
  }
}

function statesPrice({ priceSign }: Operation): boolean {
  return priceSign === 'positive';
}
