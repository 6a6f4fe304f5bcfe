/** Modules that viem's package does not name: its own functions, of which an index would load all others. */
declare module '*/viem/_esm/utils/abi/decodeFunctionData.js' {
  export { decodeFunctionData } from 'viem';
}
declare module '*/viem/_esm/utils/abi/decodeFunctionResult.js' {
  export { decodeFunctionResult } from 'viem';
}
declare module '*/viem/_esm/utils/abi/encodeAbiParameters.js' {
  export { encodeAbiParameters } from 'viem';
}
declare module '*/viem/_esm/utils/abi/encodeFunctionData.js' {
  export { encodeFunctionData } from 'viem';
}
declare module '*/viem/_esm/utils/abi/parseEventLogs.js' {
  export { parseEventLogs } from 'viem';
}
declare module '*/viem/_esm/utils/address/getAddress.js' {
  export { getAddress } from 'viem';
}
declare module '*/viem/_esm/utils/address/isAddress.js' {
  export { isAddress } from 'viem';
}
declare module '*/viem/_esm/utils/address/isAddressEqual.js' {
  export { isAddressEqual } from 'viem';
}
declare module '*/viem/_esm/utils/encoding/fromHex.js' {
  export { hexToBigInt } from 'viem';
}
declare module '*/viem/_esm/utils/encoding/toBytes.js' {
  export { toBytes } from 'viem';
}
declare module '*/viem/_esm/utils/encoding/toHex.js' {
  export { bytesToHex, toHex } from 'viem';
}
declare module '*/viem/_esm/utils/hash/isHash.js' {
  export { isHash } from 'viem';
}
declare module '*/viem/_esm/utils/hash/keccak256.js' {
  export { keccak256 } from 'viem';
}
declare module '*/viem/_esm/utils/signature/hashTypedData.js' {
  export { hashTypedData } from 'viem';
}
declare module '*/viem/_esm/utils/signature/parseErc6492Signature.js' {
  export { parseErc6492Signature } from 'viem';
}
declare module '*/viem/_esm/utils/signature/recoverAddress.js' {
  export { recoverAddress } from 'viem';
}
declare module '*/viem/_esm/utils/signature/recoverTypedDataAddress.js' {
  export { recoverTypedDataAddress } from 'viem';
}
declare module '*/viem/_esm/utils/signature/verifyTypedData.js' {
  export { verifyTypedData } from 'viem';
}
