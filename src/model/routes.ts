/** Operations of an origin as its documents and challenges state them: facts to write fixes from. */

/** One way to pay, as the challenge has it; cleaned and cut, null where it is missing. */
export type RouteOffer = {
  readonly scheme: string | null;
  /** CAIP-2, also where the challenge is of version 1 and names it otherwise. */
  readonly network: string | null;
  readonly asset: string | null;
  /** Base units. */
  readonly amount: string | null;
  readonly payTo: string | null;
};

export type PaidRoute = {
  /** Upper case; null where no document and no answer tells. */
  readonly method: string | null;
  /**
   * The declared path, base path of the server included: "/weather/{city}". Null where no document
   * declares one: a path that was asked may be one of many that a route serves.
   */
  readonly template: string | null;
  /** The path that stands for it in requests, which a scan may have sent. */
  readonly path: string;
  /** Of the challenge, at most 500 characters. */
  readonly description: string | null;
  readonly mimeType: string | null;
  readonly offers: readonly RouteOffer[];
};

export type FreeRoute = { readonly method: string; readonly template: string };

export type RouteFacts = {
  readonly paid: readonly PaidRoute[];
  /** Operations whose 402 asks who the caller is, and sells nothing. */
  readonly signIn: readonly FreeRoute[];
  /** Operations of OpenAPI that nothing calls paid, the first few. */
  readonly free: readonly FreeRoute[];
  /** False where there are more paid routes than are listed, or documents could not be read. */
  readonly isComplete: boolean;
};
