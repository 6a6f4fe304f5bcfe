/** Digests of published files: the same whatever a checkout did to line ends. */
import { createHash } from 'node:crypto';

/** "sha256:" and 64 hex digits, over the text with every CRLF as LF. */
export function fileDigest(text: string): string {
  const normalised = text.replaceAll('\r\n', '\n');
  return `sha256:${createHash('sha256').update(normalised, 'utf8').digest('hex')}`;
}
