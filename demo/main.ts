/** `npm run demo`: an agent buys the scans of two sellers on a chain of its own, then a pay-test of both. Ends on Ctrl-C. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { type Config, loadConfig } from '../src/service/config/config.ts';
import { openService } from '../src/service/start/service.ts';
import { startChain, type TestChain } from '../test/fixtures/chain/test-chain.ts';
import { startExpressV2Seller } from '../test/fixtures/sellers/express-v2-seller.ts';
import { freePort } from '../test/fixtures/service/free-port.ts';
import { buyScan } from './buy-scan.ts';
import { payTestSeller } from './pay-test-seller.ts';

const OUR_ADDRESS = '0x1111111111111111111111111111111111111111';

const undo = new AsyncDisposableStack();
closeWithGrace({ delay: 20_000 }, async ({ err }) => {
  if (err !== undefined) console.error(err);
  await undo.disposeAsync();
});

function say(text: string): void {
  console.log(text);
}

async function openScanner(chain: TestChain, sellers: readonly string[]): Promise<Config> {
  const folder = await mkdtemp(join(tmpdir(), 'x402-demo-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const config = loadConfig({
    PORT: String(port),
    STORE_URL: `sqlite:${join(folder, 'demo.db')}`,
    PAYMENT_MODE: 'local',
    RPC_URL: chain.rpcUrl,
    SETTLEMENT_KEY: chain.facilitatorKey,
    PAY_TO: OUR_ADDRESS,
    SCAN_ALLOW_HOSTS: sellers.map((url) => new URL(url).host).join(','),
    // No index knows these sellers, and the demo needs no network.
    X402SCAN_URL: '',
    BAZAAR_URL: '',
    ECOSYSTEM_URL: '',
    LOG_LEVEL: 'warn',
  });
  const service = await openService(config);
  undo.defer(() => service.close());
  await service.app.listen({ host: config.host, port });
  return config;
}

async function main(): Promise<void> {
  say('1. A chain of our own, with USDC where official clients expect it …');
  const chain = await startChain();
  undo.defer(() => chain[Symbol.asyncDispose]());

  say('2. Two sellers on the official middleware: one does all right, one is as it comes …');
  const good = await startExpressV2Seller({
    withOpenApi: true,
    withDocuments: true,
    withBazaar: true,
    guardsHead: true,
  });
  undo.defer(() => good[Symbol.asyncDispose]());
  const broken = await startExpressV2Seller({ withOpenApi: true });
  undo.defer(() => broken[Symbol.asyncDispose]());

  say('3. The service, settling on that chain …');
  const { baseUrl, revision } = await openScanner(chain, [good.url, broken.url]);
  const offer = revision.offers.scan;
  const price = offer?.kind === 'paid' ? offer.priceBaseUnits : 0n;
  const payer = await chain.newPayer();
  say(
    `   it listens on ${baseUrl}; the payer ${payer.address} holds ${usd(await chain.balanceOf(payer.address))}`,
  );

  for (const [about, url] of [
    ['4. @x402/fetch pays for a scan of the good one', good.url],
    ['5. And for a scan of the one as it comes', broken.url],
  ] as const) {
    say(`${about}, ${url} …`);
    const before = await balances(chain, payer.address);
    const receipt = await buyScan(baseUrl, url, payer.privateKey);
    const after = await balances(chain, payer.address);
    say(receipt.text);
    say(
      `   payer ${usd(before.payer)} -> ${usd(after.payer)}, service ${usd(before.service)} -> ${usd(after.service)}, transaction ${receipt.transaction}`,
    );
    if (before.payer - after.payer !== price || after.service - before.service !== price) {
      throw new Error('the balances did not move by the price of one scan');
    }
  }
  for (const [about, name] of [
    ['6. Play money and a facilitator that misbehaves, for the good seller', 'good'],
    ['7. And for the one as it comes', 'as-it-comes'],
  ] as const) {
    say(`${about} (a minute of waits on purpose) …`);
    say(await payTestSeller(name, (line) => say(`   ${line}`)));
  }
  say(
    `8. The site is open: ${baseUrl}/ and ${baseUrl}/o/${new URL(good.url).host} (Ctrl-C ends it)`,
  );
}

async function balances(chain: TestChain, payer: `0x${string}`) {
  const [payerBalance, service] = await Promise.all([
    chain.balanceOf(payer),
    chain.balanceOf(OUR_ADDRESS),
  ]);
  return { payer: payerBalance, service };
}

/** Base units of USDC as dollars. */
function usd(baseUnits: bigint): string {
  return `$${(Number(baseUnits) / 1e6).toFixed(2)}`;
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
  await undo.disposeAsync();
}
