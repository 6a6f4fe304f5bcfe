/**
 * Compares the tables of schemes, networks and assets with the official packages and specifications, and prints
 * one line for each difference: `npm run upstream -- [--packages DIR] [--specs DIR] [--write]`. Exit 0 without a
 * difference, 1 with one, 2 for bad usage.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { defuseCommands } from '../../src/cli/formatters/escapes.ts';
import { cleanText } from '../../src/scanner/parse/text/text.ts';
import { renderKnownAssets } from './known-assets.ts';
import { BadUsage, findCheckout, openPackages, type Packages } from './open-packages.ts';

const ROOT = new URL('../../', import.meta.url);
const MAX_LINE_CHARS = 500;
const USAGE = 'usage: npm run upstream -- [--packages DIR] [--specs DIR] [--write]';

async function main(args: readonly string[]): Promise<0 | 1> {
  const { packages: folder, specs, write = false } = parse(args);
  const packages = await openPackages(folder ?? fileURLToPath(new URL('node_modules', ROOT)));
  const specFolder = specs === undefined ? null : await findCheckout(specs);
  if (write) await writePages(packages);
  // Loaded after the write, because these modules read the written table of assets.
  const { listPackageDifferences } = await import('./package-differences.ts');
  const { listSpecDifferences } = await import('./spec-differences.ts');
  const lines = [
    ...listPackageDifferences(packages),
    ...(specFolder === null ? [] : await listSpecDifferences(specFolder)),
  ];
  // The lines quote texts of others, and become the text of an issue.
  const safeLines = lines.map((line) => cleanText(line.replaceAll('`', "'"), MAX_LINE_CHARS));
  if (lines.length > 0) process.stdout.write(`${defuseCommands(safeLines.join('\n'))}\n`);
  return lines.length > 0 ? 1 : 0;
}

async function writePages(packages: Packages): Promise<void> {
  await writeFile(
    new URL('src/scanner/parse/x402/known-assets.ts', ROOT),
    renderKnownAssets(packages),
  );
  const { renderNetworksDocument } = await import('./document.ts');
  await writeFile(new URL('docs/networks-and-schemes.md', ROOT), renderNetworksDocument());
}

function parse(args: readonly string[]) {
  try {
    const options = {
      packages: { type: 'string' },
      specs: { type: 'string' },
      write: { type: 'boolean' },
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new BadUsage(error instanceof Error ? error.message : USAGE);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BadUsage)) throw error;
  process.stderr.write(`${error.message.split('\n', 1)[0]}; ${USAGE}\n`);
  process.exitCode = 2;
}
