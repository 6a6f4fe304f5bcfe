import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { PREDICATE_PATH } from '../../../attestation/statement.ts';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { DISCLAIMER } from '../../../directory/provenance.ts';
import type { RouteContext } from '../route-context.ts';

/** The page at the address that signed reports name as their predicate type. */
export const scanAttestationRoute: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { config },
) => {
  if (config.revision.offers.attestation === undefined) return;
  const view = {
    title: 'Signed reports',
    summary: 'What the scanner signs about a scan, and how to verify it',
    disclaimer: DISCLAIMER,
  };
  app.get(
    PREDICATE_PATH,
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } },
    async (_request, reply) => reply.view('scan-attestation', view),
  );
};
