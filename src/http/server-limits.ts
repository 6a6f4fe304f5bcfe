/** What connections may take before a request is there. */
export type ServerLimits = {
  /** To receive a request whole, from the first byte of the connection on; answering may take longer. */
  readonly requestTimeoutMs: number;
  /** How often connections are held against it: one is closed at most so much later. */
  readonly checkIntervalMs: number;
  /** Open connections; a further one is closed at once. An idle one costs some 15 KiB. */
  readonly maxConnections: number;
  /**
   * Connections that wait to be accepted while this thread is busy; the system may allow fewer. Those
   * beyond have their first packet dropped, and try again a second later.
   */
  readonly backlog: number;
};

export const SERVER_LIMITS: ServerLimits = {
  requestTimeoutMs: 15_000,
  checkIntervalMs: 5_000,
  maxConnections: 10_000,
  backlog: 4_096,
};
