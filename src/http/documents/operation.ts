import type { Offer } from '../../config/revision.ts';

export type OperationParameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'body';
  readonly required: boolean;
  readonly description: string;
};

/** One documented operation; every discovery document is written from it. */
export type Operation = {
  readonly operationId: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly OperationParameter[];
  readonly offer: Offer;
};
