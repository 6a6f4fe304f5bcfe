/** One operation, as documents list it. */
import type { Offer } from '../../config/revision.ts';

export type OperationParameter = {
  readonly name: string;
  readonly in: 'query' | 'body';
  readonly required: boolean;
  readonly description: string;
};

/** One documented operation: what every discovery document says of it comes from here. */
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
