import type { FastifyReply } from 'fastify';
import type { Offer } from '../../../config/revision.ts';
import { OriginRefused } from '../../../guard/errors.ts';
import type { Origin } from '../../../guard/origin.ts';
import { dollars } from '../../documents/payment-info.ts';
import { requestedOrigin } from '../requested-origin.ts';
import type { RouteContext } from '../route-context.ts';

/** Sends a page with a message in place of the one that was requested. */
export function sendMessage(reply: FastifyReply, status: number, heading: string, text: string) {
  return reply.code(status).view('message', { title: heading, summary: text, heading, text });
}

/** The origin of the host in a path; null for one that we do not scan. */
export function originOfHost(host: string, parts: RouteContext): Origin | null {
  try {
    return requestedOrigin(host, parts);
  } catch (error) {
    if (error instanceof OriginRefused) return null;
    throw error;
  }
}

/** "$0.05"; a route without a price is free. */
export function priceText(offer: Offer | undefined): string {
  return offer?.kind === 'paid' ? `$${dollars(offer.priceBaseUnits)}` : 'nothing';
}
