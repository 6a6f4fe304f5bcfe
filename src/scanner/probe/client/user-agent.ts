/** The User-Agent of all requests: our name, and a page that says what we send. */
import { readFileSync } from 'node:fs';

export function scannerUserAgent(aboutUrl: string): string {
  return `x402-conformance-scanner/${packageVersion()} (+${aboutUrl})`;
}

/** The version of this package, such as "0.3.0". */
export function packageVersion(): string {
  const file = new URL('../../../../package.json', import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return hasVersion ? String(manifest.version) : 'unknown';
}
