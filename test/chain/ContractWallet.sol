// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A payer that is a contract (EIP-1271): valid is what its owner signed, and that recovers to the
/// owner, not to the payer. Without a constructor: the owner is written to slot 0.
contract ContractWallet {
    address public owner;

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        address signer = ecrecover(
            digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64])
        );
        return signer != address(0) && signer == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
