/**
 * viem as the official clients need it where no chain can be read: the functions that they import, each
 * from the module that has it, and none of the 400 modules beside them.
 */
/// <reference path="./viem-modules.d.ts" />
export { decodeFunctionData } from '../../node_modules/viem/_esm/utils/abi/decodeFunctionData.js';
export { decodeFunctionResult } from '../../node_modules/viem/_esm/utils/abi/decodeFunctionResult.js';
export { encodeAbiParameters } from '../../node_modules/viem/_esm/utils/abi/encodeAbiParameters.js';
export { encodeFunctionData } from '../../node_modules/viem/_esm/utils/abi/encodeFunctionData.js';
export { parseEventLogs } from '../../node_modules/viem/_esm/utils/abi/parseEventLogs.js';
export { getAddress } from '../../node_modules/viem/_esm/utils/address/getAddress.js';
export { isAddress } from '../../node_modules/viem/_esm/utils/address/isAddress.js';
export { isAddressEqual } from '../../node_modules/viem/_esm/utils/address/isAddressEqual.js';
export { hexToBigInt } from '../../node_modules/viem/_esm/utils/encoding/fromHex.js';
export { toBytes } from '../../node_modules/viem/_esm/utils/encoding/toBytes.js';
export { bytesToHex, toHex } from '../../node_modules/viem/_esm/utils/encoding/toHex.js';
export { isHash } from '../../node_modules/viem/_esm/utils/hash/isHash.js';
export { keccak256 } from '../../node_modules/viem/_esm/utils/hash/keccak256.js';
export { hashTypedData } from '../../node_modules/viem/_esm/utils/signature/hashTypedData.js';
export { parseErc6492Signature } from '../../node_modules/viem/_esm/utils/signature/parseErc6492Signature.js';
export { recoverAddress } from '../../node_modules/viem/_esm/utils/signature/recoverAddress.js';
export { recoverTypedDataAddress } from '../../node_modules/viem/_esm/utils/signature/recoverTypedDataAddress.js';
export { verifyTypedData } from '../../node_modules/viem/_esm/utils/signature/verifyTypedData.js';

export const maxUint256 = 2n ** 256n - 1n;
export const zeroAddress = '0x0000000000000000000000000000000000000000';

/** What clients read a chain with, and facilitators a transaction: the packages name them, no trial calls them. */
export const createPublicClient = absent('createPublicClient');
export const http = absent('http');
export const parseTransaction = absent('parseTransaction');
export const parseSignature = absent('parseSignature');
export const recoverTransactionAddress = absent('recoverTransactionAddress');

function absent(name: string): () => never {
  return () => {
    throw new TypeError(`No network here: viem's ${name} is left out.`);
  };
}
