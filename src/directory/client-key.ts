import { createHash } from 'node:crypto';
import { normalizeIP } from '@fastify/rate-limit';

/**
 * Who counts as one client: an IPv4 address, or the /64 block that one IPv6 customer holds. Hashed,
 * so that no store keeps addresses.
 */
export function clientKey(ip: string): string {
  return createHash('sha256').update(normalizeIP(ip, 64)).digest('base64url').slice(0, 22);
}
