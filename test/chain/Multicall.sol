// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// The one function of Multicall3 that the official facilitator asks when a payment does not
/// simulate. Without it every refusal reads "simulation failed" instead of naming what is wrong.
contract Multicall {
    struct Call {
        address target;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        external
        payable
        returns (Result[] memory results)
    {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
            require(results[i].success || !requireSuccess, "Multicall3: call failed");
        }
    }
}
