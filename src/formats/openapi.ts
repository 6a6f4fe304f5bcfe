/** An OpenAPI document as the checks and the plan read it: operations with what they declare. */
import type { JsonObject, JsonValue } from './json.ts';

export type PriceDeclaration =
  | {
      readonly kind: 'fixed';
      readonly amount: string;
      readonly currency: string;
      readonly pointer: string;
    }
  | {
      readonly kind: 'dynamic';
      readonly min: string | null;
      readonly max: string | null;
      readonly currency: string;
      readonly pointer: string;
    }
  /** MPP: amounts are base units of the asset. */
  | { readonly kind: 'mpp'; readonly amount: string | null; readonly pointer: string }
  /** A flat or string form of old, still comparable where `amount` is not null. */
  | { readonly kind: 'legacy'; readonly amount: string | null; readonly pointer: string };

export type Operation = {
  /** Upper case. */
  readonly method: string;
  /** As written: "/users/{id}". */
  readonly template: string;
  /** JSON pointer of the operation: "/paths/~1weather/get". */
  readonly pointer: string;
  /** Path and query to request, with server base path and path parameters filled from examples. */
  readonly requestPath: string;
  readonly hasPathParameters: boolean;
  readonly hasRequiredParameters: boolean;
  /** Effective security requirements (operation overrides root): null where neither declares any. */
  readonly security: readonly JsonObject[] | null;
  readonly declares402: boolean;
  readonly paymentInfo: JsonObject | null;
  /** `protocols` of x-payment-info: objects are the structured form, strings the legacy one. */
  readonly protocols: 'objects' | 'strings' | 'missing';
  readonly protocolNames: readonly string[];
  readonly price: PriceDeclaration | null;
  /** x-payment-info or a 402 response. */
  readonly paid: boolean;
};

export type SecurityScheme = {
  readonly name: string;
  readonly type: string;
  readonly scheme: string;
  readonly in: string;
  readonly parameter: string;
};

export type OpenApiFacts = {
  /** The `openapi` member as text ("3.1.0"), null where it is missing (Swagger 2 has `swagger`). */
  readonly version: string | null;
  readonly swagger: boolean;
  readonly title: string | null;
  readonly infoVersion: string | null;
  readonly hasContact: boolean;
  readonly hasGuidance: boolean;
  readonly description: string | null;
  readonly paths: number;
  readonly operations: readonly Operation[];
  readonly securitySchemes: readonly SecurityScheme[];
  /** Server URLs as written, with their pointers. */
  readonly servers: readonly { readonly url: string; readonly pointer: string }[];
  /** externalDocs URLs as written, with their pointers. */
  readonly externalDocs: readonly { readonly url: string; readonly pointer: string }[];
  readonly document: JsonValue;
};
