/** A resource that the second wave is to ask for. */
import type { ResourceSource } from '../../model/observations.ts';

export type PlannedResource = {
  readonly url: string;
  readonly path: string;
  readonly template: string;
  readonly method: 'GET' | 'POST' | null;
  readonly sources: readonly ResourceSource[];
  readonly declaredPaid: boolean;
  /** A value in `path` is declared nowhere. */
  readonly madeUp: boolean;
  /** True when OpenAPI declares a POST that no document calls paid; a probe would execute it. */
  readonly freePost: boolean;
};
