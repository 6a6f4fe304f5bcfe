/** Packages that the buyers use. A test compares these versions with the installed ones. */
import type { ClientVersion } from '../model/payability.ts';

export const CLIENTS: readonly ClientVersion[] = Object.freeze([
  { name: '@x402/core', version: '2.27.0' },
  { name: '@x402/evm', version: '2.27.0' },
  { name: '@x402/svm', version: '2.27.0' },
]);

/** Packages that try offers only in our tests. The same test compares their versions. */
export const TEST_CLIENTS: readonly ClientVersion[] = Object.freeze([
  { name: '@x402/avm', version: '2.26.0' },
  { name: '@x402/stellar', version: '2.9.0' },
]);
