/** Limits of connections before a request is complete. */
export type ServerLimits = {
  /** Time to receive a whole request from the connection's first byte; the answer may take longer. */
  readonly requestTimeoutMs: number;
  /** Interval of the check; a connection is closed at most this much later. */
  readonly checkIntervalMs: number;
  /** Open connections; a further one is closed at once. An idle one costs some 15 KiB. */
  readonly maxConnections: number;
  /**
   * Connections that wait to be accepted while this thread is busy; the system may allow fewer. Further
   * ones lose their first packet and retry after a second.
   */
  readonly backlog: number;
};

export const SERVER_LIMITS: ServerLimits = {
  requestTimeoutMs: 15_000,
  checkIntervalMs: 5_000,
  maxConnections: 10_000,
  backlog: 4_096,
};
