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
  /** OpenAPI has a POST here that nothing calls paid: it would run. */
  readonly freePost: boolean;
};
