import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { toCanonicalJson } from '../../attestation/canonical-json.ts';
import { PAYLOAD_TYPE, signEnvelope } from '../../attestation/envelope.ts';
import { type ScanStatement, toStatement } from '../../attestation/statement.ts';
import { findFreshReport } from '../../directory/fresh-report.ts';
import { DISCLAIMER } from '../../directory/provenance.ts';
import { toReportBody } from '../../directory/report-body.ts';
import { readCatalog } from '../../engine/catalog/catalog.ts';
import { NoFreshReport } from '../../model/errors.ts';
import { packageVersion } from '../../probe/client/user-agent.ts';
import type { FinishedScan } from '../../scan/finished-scan.ts';
import { errorResponses, URL_ERRORS } from './error-schema.ts';
import { requestedOrigin } from './requested-origin.ts';
import type { RouteContext } from './route-context.ts';
import { urlParameter } from './url-parameter.ts';

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

/** Signed reports, in revisions that offer them. */
export const attestationRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config, signingKey } = parts;
  const offer = config.revision.offers.attestation;
  if (offer === undefined) return;
  const facts = { siteUrl: config.siteUrl, version: packageVersion() };

  app.get(
    '/v1/attestation',
    {
      config: { offer },
      schema: {
        operationId: 'attestation',
        tags: ['scanning'],
        summary: 'The report of the last 24 hours, signed',
        description:
          'A DSSE envelope of an in-toto Statement v1: its subject is the digest of what was seen, its predicate the report of GET /v1/report with the catalog that judged it. The keys stand at /.well-known/jwks.json; x402-scan verify checks all of it. 404 where no result fresher than 24 hours exists.',
        querystring: Type.Object({ url: urlParameter }),
        response: {
          200: {
            description: 'A DSSE envelope.',
            content: { [ENVELOPE_TYPE]: { schema: envelopeSchema } },
          },
          ...errorResponses(...URL_ERRORS, 'no_fresh_report'),
        },
      },
    },
    async ({ query }, reply) => {
      const origin = requestedOrigin(query.url, parts);
      const finished = await findFreshReport(store, origin.host);
      const statement = finished && (await stateScan(finished, facts));
      if (statement === null) throw new NoFreshReport(origin);
      const envelope = signEnvelope(toCanonicalJson(statement), signingKey);
      return reply.type(ENVELOPE_TYPE).send(envelope);
    },
  );
};

/** Null for a scan whose observations have no digest: they were too large, or an older release stored it. */
async function stateScan(
  scan: FinishedScan,
  { siteUrl, version }: { readonly siteUrl: string; readonly version: string },
): Promise<ScanStatement | null> {
  const { origin, observationsSha256 } = scan;
  if (observationsSha256 === null) return null;
  const { checksVersion } = scan.report;
  const { digest } = await readCatalog(checksVersion);
  return toStatement({ origin, observationsSha256 }, siteUrl, {
    report: toReportBody(scan, { cache: 'hit', siteUrl, saysCharged: false }),
    catalog: { checksVersion, digest },
    scanner: { name: 'x402-scan', version },
    disclaimer: DISCLAIMER,
  });
}
