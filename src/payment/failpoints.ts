/** Where a process can be made to die in tests, in the order in which a paid call passes them. */
export const FAILPOINTS = [
  'parsed',
  'claimed',
  'verified',
  'computing',
  'computed',
  'intent-synced',
  'settled-unread',
  'settled-recorded',
  'half-written',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

export interface Failpoints {
  readonly isArmed: boolean;
  pass(name: Failpoint): void;
}

export const NO_FAILPOINTS: Failpoints = { isArmed: false, pass() {} };

/**
 * Armed under `NODE_ENV=test` alone, by `X402_TEST_FAILPOINT`: `<name>` or `<name>:<n>` kills the
 * process, as a power cut would, at the nth passing of that point; `any:<n>` at the nth of all.
 */
export function failpointsOf(
  environment: Readonly<Record<string, string | undefined>>,
): Failpoints {
  const wish = environment['X402_TEST_FAILPOINT'] ?? '';
  if (environment['NODE_ENV'] !== 'test' || wish === '') return NO_FAILPOINTS;
  const [wanted = '', count = '1'] = wish.split(':');
  if (wanted !== 'any' && !FAILPOINTS.some((name) => name === wanted)) {
    throw new Error(
      `X402_TEST_FAILPOINT is "${wish}": give any or one of ${FAILPOINTS.join(', ')}`,
    );
  }
  let left = Number(count);
  return {
    isArmed: true,
    pass(name) {
      if (wanted !== 'any' && wanted !== name) return;
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
    },
  };
}

/** So that a test can end the process when the first half is on its way. */
export async function* inHalves(
  body: string | AsyncIterable<Uint8Array>,
  bodyBytes: number,
  failpoints: Failpoints,
): AsyncIterable<Uint8Array> {
  let left = Math.floor(bodyBytes / 2);
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  for await (const piece of pieces) {
    if (left > piece.length || left < 0) {
      left -= piece.length;
      yield piece;
      continue;
    }
    yield piece.subarray(0, left);
    // The half is with the kernel once the event loop has been round.
    await new Promise((resolve) => setTimeout(resolve, 20));
    failpoints.pass('half-written');
    yield piece.subarray(left);
    left = -1;
  }
}
