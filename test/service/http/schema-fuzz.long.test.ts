/** Schemathesis makes calls from the OpenAPI document, and checks every answer against the document. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ensurePythonJudges } from '../../fixtures/judges/python-judges.ts';
import { needs } from '../../fixtures/needs.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

/** Its other checks do not fit. The service may refuse a well-formed URL, and a payment is not an authorization. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
];
/** Paid routes answer 402 to any input without a payment. A body over 4 KiB gets 413. */
const CONFIG = `
[checks]
negative_data_rejection.expected-statuses = [400, 402, 403, 404, 413, 415]
`;
const judges = await ensurePythonJudges(['schemathesis==4.32.5']);

function runSchemathesis(python: string, args: readonly string[], cwd: string) {
  return new Promise<{ readonly code: unknown; readonly output: string }>((resolve) => {
    execFile(
      python,
      ['-m', 'schemathesis.cli', ...args],
      { cwd, maxBuffer: 2 ** 26 },
      (error, out, err) =>
        resolve({ code: error === null ? 0 : error.code, output: `${out}${err}` }),
    );
  });
}

describe('the OpenAPI document', needs('unavailable' in judges ? judges.unavailable : null), () => {
  const python = 'python' in judges ? judges.python : '';

  test.each(['0.1.0', '0.3.0'] as const)(
    'of %s agrees with every answer of the service',
    { timeout: 900_000 },
    async (revision) => {
      await using service = await startApp({ revision, environment: { RATE_LIMIT: 'off' } });
      await service.publish('api.example.com');
      const address = await service.app.listen({ port: 0, host: '127.0.0.1' });
      const folder = await mkdtemp(join(tmpdir(), 'schemathesis-'));
      await writeFile(join(folder, 'schemathesis.toml'), CONFIG);
      const { code, output } = await runSchemathesis(
        python,
        [
          ...['run', `${address}/openapi.json`, '--url', address, '--checks', CHECKS.join()],
          ...['--phases', 'examples,coverage,fuzzing', '--mode', 'all', '--continue-on-failure'],
          ...['--max-examples', '30', '--seed', '402', '--suppress-health-check', 'all'],
          ...['--no-color', '--generation-database', 'none', '--warnings', 'off'],
        ],
        folder,
      );
      await rm(folder, { recursive: true });
      expect([code, output.slice(-20_000)]).toEqual([
        0,
        expect.stringContaining('No issues found'),
      ]);
    },
  );
});
