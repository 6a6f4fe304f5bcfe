/** One payment option of the challenge, cleaned and cut; null members are missing. */
export type RouteOffer = {
  readonly scheme: string | null;
  /** CAIP-2; names of version 1 are converted. */
  readonly network: string | null;
  readonly asset: string | null;
  /** Base units. */
  readonly amount: string | null;
  readonly payTo: string | null;
};

export type PaidRoute = {
  /** Upper case; null when no document or answer states it. */
  readonly method: string | null;
  /**
   * The declared path, base path of the server included: "/weather/{city}". Null when no document
   * declares one: a requested path may be one of many that a route serves.
   */
  readonly template: string | null;
  /** A concrete path of the route, which a scan may have requested. */
  readonly path: string;
  /** The challenge's description, at most 500 characters. */
  readonly description: string | null;
  readonly mimeType: string | null;
  readonly offers: readonly RouteOffer[];
};

export type FreeRoute = { readonly method: string; readonly template: string };

export type RouteFacts = {
  readonly paid: readonly PaidRoute[];
  /** Operations whose 402 asks for a sign-in and sells nothing. */
  readonly signIn: readonly FreeRoute[];
  /** The first OpenAPI operations that nothing calls paid. */
  readonly free: readonly FreeRoute[];
  /** False when the list of paid routes was cut, or documents could not be read. */
  readonly isComplete: boolean;
};
