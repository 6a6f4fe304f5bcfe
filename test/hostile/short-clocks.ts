/** What takes 10 s in earnest: long enough for a busy machine to answer, short enough to wait for. */
export const SHORT_CLOCKS = {
  requestTimeoutMs: 1_500,
  connectTimeoutMs: 500,
  dialTimeoutMs: 1_000,
};
