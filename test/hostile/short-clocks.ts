/** Stands for limits of 10 s. A busy machine can still answer in time, and a test can wait so long. */
export const SHORT_CLOCKS = {
  requestTimeoutMs: 1_500,
  connectTimeoutMs: 500,
  dialTimeoutMs: 1_000,
};
