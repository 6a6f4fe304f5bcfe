/** The official inspector and conformance runner against both transports. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ensureJudge } from '../fixtures/judges/judge-tools.ts';
import { needs } from '../fixtures/needs.ts';
import { startApp } from '../fixtures/service/start-app.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOOLS = 7;

const judge = await ensureJudge({
  '@modelcontextprotocol/inspector': '2.12.0',
  '@modelcontextprotocol/conformance': '0.1.16',
});

describe('outside judges', needs('unavailable' in judge ? judge.unavailable : null), () => {
  async function execute(name: string, args: readonly string[]): Promise<string> {
    if ('unavailable' in judge) return '';
    const { stdout } = await run(process.execPath, [judge.bin(name), ...args], { cwd: ROOT });
    return stdout;
  }

  test('the inspector lists the tools over standard input and output', async () => {
    const command = [process.execPath, 'src/cli/main.ts', 'mcp'];
    const stdout = await execute('inspector', ['--cli', ...command, '--method', 'tools/list']);
    expect(JSON.parse(stdout.slice(0, stdout.lastIndexOf('}') + 1)).tools).toHaveLength(TOOLS);
  });

  test.each(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])(
    'the conformance runner passes %s over HTTP',
    async (scenario) => {
      await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
      const url = `${await service.app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
      const stdout = await execute('conformance', ['server', '--url', url, '--scenario', scenario]);
      expect(stdout).toMatch(/Passed: (\d+)\/\1, 0 failed/);
    },
  );
});
