import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  PAYLOAD_TYPE,
  signEnvelope,
  toCanonicalJson,
} from '../../../scanner/attestation/envelope.ts';
import { type ScanStatement, toStatement } from '../../../scanner/attestation/statement.ts';
import { readCatalog } from '../../../scanner/engine/catalog/catalog.ts';
import { readPackageVersion } from '../../../scanner/probe/client/user-agent.ts';
import { DOCUMENT_OFFER } from '../../config/revision.ts';
import { DISCLAIMER } from '../../directory/project.ts';
import {
  type FreshReport,
  findFreshReport,
  toFreeReport,
} from '../../directory/published-report.ts';
import { NoFreshReport } from '../../errors/errors.ts';
import { toPublishedKeys } from '../../keys/open-signing-key.ts';
import { DOCUMENTS_TAG, PATHS } from '../documents/service-facts.ts';
import { errorResponses, STORE_ERRORS, URL_ERRORS } from './answer-schema.ts';
import { parseRequestedOrigin, type RouteContext, urlParameter } from './route-context.ts';

const ENVELOPE_TYPE = 'application/vnd.dsse.envelope.v1+json';

const envelopeSchema = Type.Object(
  {
    payload: Type.String({ description: 'Base64 of an in-toto Statement v1 in canonical JSON.' }),
    payloadType: Type.Unsafe<string>({ type: 'string', const: PAYLOAD_TYPE }),
    signatures: Type.Array(
      Type.Object({
        keyid: Type.String({ description: 'The kid of a key of /.well-known/jwks.json.' }),
        sig: Type.String({ description: 'Base64 of an Ed25519 signature.' }),
      }),
    ),
  },
  { description: 'A DSSE envelope.' },
);

/** Serves signed reports, and the public keys that verify them. */
export const attestationRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config, signingKey } = parts;
  app.offer('attestation', {
    method: 'GET',
    url: '/v1/attestation',
    schema: {
      tags: ['scanning'],
      summary: 'The report of the last 24 hours, signed',
      description:
        'A DSSE envelope of an in-toto Statement v1: its subject has the digest of the observations, its predicate has the report of GET /v1/report and the catalog that judged it. The keys are at /.well-known/jwks.json. The command x402-scan verify checks the whole envelope. 404 if the last scan is over 24 hours old.',
      querystring: Type.Object({ url: urlParameter }),
      response: {
        200: {
          description: 'A DSSE envelope.',
          content: { [ENVELOPE_TYPE]: { schema: envelopeSchema } },
        },
        ...errorResponses(...URL_ERRORS, 'no_fresh_report'),
      },
    },
    async handler({ query }, reply) {
      const origin = parseRequestedOrigin(query.url, parts);
      const report = await findFreshReport(store, origin.host);
      const statement = report && (await toScanStatement(report, config.siteUrl));
      if (statement === null) throw new NoFreshReport(origin);
      const envelope = signEnvelope(toCanonicalJson(statement), signingKey);
      return reply.type(ENVELOPE_TYPE).send(envelope);
    },
  });
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
          200: { description: 'A JWK Set.', content: { [KEY_SET_TYPE]: { schema: keySetSchema } } },
          ...errorResponses(...STORE_ERRORS),
        },
      },
    },
    async (_request, reply) => {
      const keys = toPublishedKeys(await store.signingKeys.list(), store.now());
      return reply
        .header('cache-control', 'public, max-age=300')
        .type(KEY_SET_TYPE)
        .send({ keys: [...keys] });
    },
  );
};

const SCANNER = { name: 'x402-scan', version: readPackageVersion() } as const;

/** Null if no digest is stored, because the observations were too large. */
async function toScanStatement(
  freshReport: FreshReport,
  siteUrl: string,
): Promise<ScanStatement | null> {
  const { observationsSha256 } = freshReport;
  if (observationsSha256 === null) return null;
  const { origin, checksVersion } = freshReport.report;
  const { digest } = await readCatalog(checksVersion);
  return toStatement({ origin, observationsSha256 }, siteUrl, {
    report: toFreeReport(freshReport, siteUrl),
    catalog: { checksVersion, digest },
    scanner: SCANNER,
    disclaimer: DISCLAIMER,
  });
}

const KEY_SET_TYPE = 'application/jwk-set+json';

/** 32 bytes in base64url. */
const base64Url32 = { pattern: '^[A-Za-z0-9_-]{43}$' };

const keySetSchema = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.String({ const: 'OKP' }),
      crv: Type.String({ const: 'Ed25519' }),
      x: Type.String({ ...base64Url32, description: 'The public key, base64url.' }),
      kid: Type.String({ ...base64Url32, description: 'RFC 7638 thumbprint.' }),
      use: Type.String({ const: 'sig' }),
      alg: Type.String({ const: 'EdDSA' }),
      nbf: Type.Integer({
        description: 'Unix time in seconds: the key signs scans from this time on.',
      }),
      exp: Type.Integer({
        description: 'Unix time in seconds: the key signs no scan from this time on.',
      }),
    }),
  ),
});
