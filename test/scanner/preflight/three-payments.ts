/** A process that pays a seller three times through one hook; prints the number of started threads each time. */
import { x402Client } from '@x402/core/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { preflight } from '../../../src/cli/library/index.ts';

const [, , seller = ''] = process.argv;
let threads = 0;
process.on('worker', () => {
  threads += 1;
});
const client = new x402Client();
registerExactEvmScheme(client, { signer: privateKeyToAccount(generatePrivateKey()) });
client.onBeforePaymentCreation(preflight({ url: `${seller}/weather`, allowPrivate: true }));
const pay = wrapFetchWithPayment(fetch, client);
const begun: number[] = [];
for (let bought = 0; bought < 3; bought += 1) {
  await pay(`${seller}/weather`);
  begun.push(threads);
}
process.stdout.write(JSON.stringify(begun));
