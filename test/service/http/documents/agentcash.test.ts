/** x402scan runs the AgentCash checker on every origin. This test runs it on our service. */
import {
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  getL3,
  getOpenAPI,
  getProbe,
  getWarningsFor402Body,
  getWarningsForFavicon,
  getWarningsForL2,
  getWarningsForL3,
  getWarningsForL4,
  getWarningsForOpenAPI,
  isOpenApiParseFailure,
  validatePaymentRequiredDetailed,
} from '@agentcash/discovery';
import { expect, test } from 'vitest';
import { freePort } from '../../../fixtures/service/free-port.ts';
import { startApp } from '../../../fixtures/service/start-app.ts';

/** Runs the checks of AgentCash on an origin, and returns one line for each complaint. */
async function findComplaints(origin: string): Promise<string[]> {
  const openApi = (await getOpenAPI(origin)).unwrapOr(null);
  if (openApi === null || isOpenApiParseFailure(openApi)) {
    return getWarningsForOpenAPI(openApi).map(({ code }) => code);
  }
  const routes = checkL2ForOpenAPI(openApi);
  const documentWarnings = [
    ...getWarningsForOpenAPI(openApi),
    ...getWarningsForL2(routes),
    ...getWarningsForL4(checkL4ForOpenAPI(openApi)),
    ...(await getWarningsForFavicon(origin)).unwrapOr([]),
  ].map(({ code }) => code);
  const routeComplaints = routes.routes.map(async ({ path, method, authMode }) => {
    const probe = (await getProbe(origin + path)).unwrapOr([]);
    const warnings = getWarningsForL3(getL3(openApi, probe, path, method)).map(({ code }) => code);
    if (authMode !== 'paid') return warnings.map((code) => `${path} ${code}`);
    const answer = await fetch(origin + path, { method });
    const body: unknown = await answer.json();
    const { issues, valid } = validatePaymentRequiredDetailed(body, {
      requireInputSchema: true,
      requireOutputSchema: true,
    });
    const codes = [...issues, ...getWarningsFor402Body(body)].map(({ code }) => code);
    const verdict = answer.status === 402 && valid ? [] : [`answers ${answer.status}`];
    return [...warnings, ...codes, ...verdict].map((code) => `${path} ${code}`);
  });
  return [...documentWarnings, ...(await Promise.all(routeComplaints)).flat()];
}

/** AgentCash only warns of this missing input schema, because the export takes no input. */
const EXPORT_WARNINGS = ['/v1/directory/export L3_INPUT_SCHEMA_MISSING'];

test.each([
  ['0.1.0', []],
  ['0.3.0', EXPORT_WARNINGS],
] as const)(
  'AgentCash finds no errors in revision %s, only the warnings %j',
  async (revision, expectedWarnings) => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    await using service = await startApp({
      revision,
      environment: { BASE_URL: origin, SITE_URL: origin, RATE_LIMIT: 'off' },
    });
    await service.app.listen({ host: '127.0.0.1', port });
    expect(await findComplaints(origin)).toEqual(expectedWarnings);
  },
);
