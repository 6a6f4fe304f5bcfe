/** An agent buys a report with one call of an official client with default options. */
import { decodePaymentResponseHeader } from '@x402/core/http';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { formatText } from '../src/cli/formatters/text.ts';
import { NO_SOURCES, readRepository } from '../src/cli/sources.ts';
import { scoreResults } from '../src/scanner/engine/score.ts';
import type { ScanReport } from '../src/scanner/model/report.ts';

export type Receipt = {
  /** The report, to be read by people. */
  readonly text: string;
  readonly transaction: string;
};

export async function buyScan(
  baseUrl: string,
  origin: string,
  privateKey: `0x${string}`,
): Promise<Receipt> {
  const account = privateKeyToAccount(privateKey);
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account));
  const answer = await wrapFetchWithPayment(fetch, client)(`${baseUrl}/v1/scan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: origin }),
  });
  if (answer.status !== 200) {
    throw new Error(`the scan answered ${answer.status}: ${await answer.text()}`);
  }
  const settled = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
  // The service's own contract: a 200 of this route is a scan report (interface spec 2.2).
  const body = (await answer.json()) as Omit<ScanReport, 'subScores'>;
  // The score can be recomputed from the results: here the sub-scores, which the answer leaves out.
  const report = { ...body, subScores: scoreResults(body.results, body).subScores };
  return {
    text: formatText({
      report,
      printed: report.results,
      catalogs: { newest: report.checksVersion, service: report.checksVersion },
      rules: new Map(),
      timing: null,
      locate: NO_SOURCES.locate,
      repository: readRepository(),
      hasColours: false,
      columns: 100,
    }),
    transaction: settled.transaction,
  };
}
