import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;

/** 256 bits, base64url. Only its hash is stored. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Lower-case hex SHA-256. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The one of these hashes that belongs to `text`, compared in constant time. */
export function findTokenHash(text: string, hashes: readonly string[]): string | null {
  const hash = Buffer.from(hashToken(text));
  const found = hashes.filter((candidate) => {
    const other = Buffer.from(candidate);
    return other.length === hash.length && timingSafeEqual(hash, other);
  });
  return found[0] ?? null;
}
