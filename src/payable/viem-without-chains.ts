/**
 * viem as the official clients need it where no chain can be read: its own functions, and none of the
 * 200 modules that talk to nodes.
 */
export * from 'viem/utils';

export const maxUint256 = 2n ** 256n - 1n;
export const zeroAddress = '0x0000000000000000000000000000000000000000';

/** What clients read a chain with, and facilitators a transaction: the packages name them, no trial calls them. */
export const createPublicClient = absent('createPublicClient');
export const http = absent('http');
export const parseSignature = absent('parseSignature');
export const recoverTransactionAddress = absent('recoverTransactionAddress');

function absent(name: string): () => never {
  return () => {
    throw new TypeError(`No network here: viem's ${name} is left out.`);
  };
}
