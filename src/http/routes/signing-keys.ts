import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { publishedKeys } from '../../attestation/published-keys.ts';
import { DOCUMENT_OFFER } from '../../config/revision.ts';
import { DOCUMENTS_TAG, PATHS } from '../documents/service-facts.ts';
import { errorResponses, STORE_ERRORS } from './error-schema.ts';
import type { RouteContext } from './route-context.ts';

const KEY_SET_TYPE = 'application/jwk-set+json';

const bytes32 = { pattern: '^[A-Za-z0-9_-]{43}$' };

const keySetSchema = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.String({ const: 'OKP' }),
      crv: Type.String({ const: 'Ed25519' }),
      x: Type.String({ ...bytes32, description: 'The public key, base64url.' }),
      kid: Type.String({ ...bytes32, description: 'RFC 7638 thumbprint.' }),
      use: Type.String({ const: 'sig' }),
      alg: Type.String({ const: 'EdDSA' }),
      nbf: Type.Integer({ description: 'Seconds: signs scans from then on.' }),
      exp: Type.Integer({ description: 'Seconds: signs no scan from then on.' }),
    }),
  ),
});

/** The keys that verify signed reports, in revisions that offer them. */
export const signingKeyRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  if (config.revision.offers.attestation === undefined) return;

  app.get(
    PATHS.keys,
    {
      config: { offer: DOCUMENT_OFFER },
      schema: {
        operationId: 'signingKeys',
        tags: [DOCUMENTS_TAG],
        summary: 'The public keys that verify signed reports',
        response: {
          200: {
            description: 'A JWK Set.',
            content: { [KEY_SET_TYPE]: { schema: keySetSchema } },
          },
          ...errorResponses(...STORE_ERRORS),
        },
      },
    },
    async (_request, reply) => {
      const keys = publishedKeys(await store.signingKeys.list(), store.now());
      return reply
        .header('cache-control', 'public, max-age=300')
        .type(KEY_SET_TYPE)
        .send({ keys: [...keys] });
    },
  );
};
