import { readFileSync } from 'node:fs';

/** "0.3.0" */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  const manifest: { version?: unknown } = JSON.parse(readFileSync(file, 'utf8'));
  return String(manifest.version);
}
