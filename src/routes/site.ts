import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { AppParts } from '../app-parts.ts';
import { PATHS, SERVICE_NAME, SUMMARY } from '../discovery/service-facts.ts';
import { DOCUMENT_OFFER } from '../revision.ts';

/** The root: people and agents who know nothing but the host find the documents from here. */
export const siteRoutes: FastifyPluginAsyncTypebox<AppParts> = async (app) => {
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${SERVICE_NAME}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="service-desc" href="${PATHS.openapi}" type="application/json">
</head>
<body>
<h1>${SERVICE_NAME}</h1>
<p>${SUMMARY}</p>
<ul>
<li><a href="${PATHS.llms}">llms.txt</a></li>
<li><a href="${PATHS.openapi}">OpenAPI</a></li>
<li><a href="${PATHS.discovery}">Discovery</a></li>
<li><a href="${PATHS.terms}">Terms</a></li>
</ul>
</body>
</html>
`;
  app.get(
    '/',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } },
    async (_request, reply) =>
      reply
        .header('link', `<${PATHS.openapi}>; rel="service-desc"`)
        .type('text/html; charset=utf-8')
        .send(page),
  );
};
