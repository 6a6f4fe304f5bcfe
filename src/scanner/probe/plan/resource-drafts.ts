import type { ResourceSource } from '../../model/observations.ts';
import type { PlannedRequest, PlannedResource, PostRule } from './declared-requests.ts';

/** Limits the work on a document that lists resources without end. */
const MAX_RESOURCES = 2_000;

type Draft = {
  path: string;
  template: string;
  method: 'GET' | 'POST' | null;
  sources: Set<ResourceSource>;
  declaredPaid: boolean;
  declaredX402: boolean;
  madeUp: boolean;
  post: PostRule;
};

export type FoundRequest = PlannedRequest &
  Pick<PlannedResource, 'declaredPaid' | 'post'> & {
    readonly source: ResourceSource;
    readonly declaredX402: boolean;
  };

/**
 * Merges what OpenAPI, manifest, index, root and llms.txt say about one resource. A finding without a method belongs to
 * the resource of this path that has a method.
 */
export class ResourceDrafts {
  readonly #drafts: Draft[] = [];
  readonly #byPath = new Map<string, Draft[]>();

  get size(): number {
    return this.#drafts.length;
  }

  add(found: FoundRequest): void {
    const { path, template, madeUp, source, declaredPaid, declaredX402, post } = found;
    const method = found.method?.toUpperCase() ?? null;
    if (method !== null && !isProbedMethod(method)) return;
    const samePath = this.#byPath.get(path) ?? [];
    const existing = samePath.find(
      (draft) => draft.method === method || method === null || draft.method === null,
    );
    // A candidate is dropped if its path is declared with another method.
    if (existing === undefined && !declaredPaid && samePath.length > 0) return;
    if (existing !== undefined) {
      mergeFinding(existing, { method, declaredPaid, post });
      existing.sources.add(source);
      existing.declaredX402 ||= declaredX402;
      // It is enough if one document declares the values of the path.
      existing.madeUp &&= madeUp;
      return;
    }
    if (this.#drafts.length >= MAX_RESOURCES) return;
    const sources = new Set([source]);
    const draft = { path, template, method, sources, declaredPaid, declaredX402, madeUp, post };
    this.#drafts.push(draft);
    this.#byPath.set(path, [...samePath, draft]);
  }

  /** True if a POST to the path is sold, or may be. */
  sellsPost(path: string): boolean {
    return (this.#byPath.get(path) ?? []).some(({ post }) => post !== 'never');
  }

  toResources(originUrl: string): readonly PlannedResource[] {
    return this.#drafts.map(({ sources, declaredX402, ...draft }) => ({
      url: originUrl + draft.path,
      ...draft,
      ...(declaredX402 ? { declaredX402 } : {}),
      sources: [...sources],
    }));
  }
}

/**
 * A declaration replaces a candidate. Of two declarations, one with a method decides for one without; between equals,
 * `never` decides. A candidate changes nothing.
 */
function mergeFinding(
  draft: Draft,
  finding: Pick<Draft, 'method' | 'declaredPaid' | 'post'>,
): void {
  const { method, declaredPaid, post } = finding;
  if (!declaredPaid) return;
  const isMoreExact = !draft.declaredPaid || (draft.method === null && method !== null);
  if (isMoreExact) draft.post = post;
  else if (post === 'never' && method === draft.method) draft.post = 'never';
  draft.method = draft.declaredPaid ? (draft.method ?? method) : method;
  draft.declaredPaid = true;
}

function isProbedMethod(method: string): method is 'GET' | 'POST' {
  return method === 'GET' || method === 'POST';
}
