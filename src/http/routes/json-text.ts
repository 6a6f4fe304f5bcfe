/** JSON that was written before it is sent. */
import type { FastifyReply } from 'fastify';

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;

/**
 * The reply answers with this text, whatever value it is sent. Fastify names the type of what it writes
 * itself, and none where a reply has a serializer of its own.
 */
export function withJsonText<Reply extends FastifyReply>(reply: Reply, text: string): Reply {
  reply.headers(JSON_HEADERS).serializer(() => text);
  return reply;
}
