/** The User-Agent of all requests: our name, and a page that says what we send. */
import { readFileSync } from 'node:fs';

export function scannerUserAgent(aboutUrl: string): string {
  return `x402-conformance-scanner/${readPackageVersion()} (+${aboutUrl})`;
}

/** The version of this package, such as "0.3.0". */
export function readPackageVersion(): string {
  const file = new URL('../../../../package.json', import.meta.url);
  const { version }: { readonly version: string } = JSON.parse(readFileSync(file, 'utf8'));
  return version;
}
