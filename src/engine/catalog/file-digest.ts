import { createHash } from 'node:crypto';

/** "sha256:" and 64 hex digits. CRLF counts as LF, because a checkout may convert line ends. */
export function fileDigest(text: string): string {
  const normalised = text.replaceAll('\r\n', '\n');
  return `sha256:${createHash('sha256').update(normalised, 'utf8').digest('hex')}`;
}
