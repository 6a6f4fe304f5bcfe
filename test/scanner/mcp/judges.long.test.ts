/**
 * The official MCP inspector tests both transports. The official conformance runner tests HTTP, its only transport.
 * Its other scenarios need the tools, resources and prompts of its reference server (`test_simple_text`), or
 * capabilities that this server does not declare (logging, completion, sampling, elicitation, SSE streams).
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ensureJudge } from '../../fixtures/judges/judge-tools.ts';
import { needs } from '../../fixtures/needs.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TOOL_COUNT = 7;

const judge = await ensureJudge({
  '@modelcontextprotocol/inspector': '2.12.0',
  '@modelcontextprotocol/conformance': '0.1.16',
});

describe('official MCP testers', needs('unavailable' in judge ? judge.unavailable : null), () => {
  async function execute(name: string, args: readonly string[]): Promise<string> {
    if ('unavailable' in judge) return '';
    const { stdout } = await run(process.execPath, [judge.bin(name), ...args], { cwd: ROOT });
    return stdout;
  }

  async function inspect(target: readonly string[], method: readonly string[]) {
    const stdout = await execute('inspector', ['--cli', ...target, '--method', ...method]);
    return JSON.parse(stdout.slice(0, stdout.lastIndexOf('}') + 1));
  }

  const CALL = ['tools/call', '--tool-name', 'explain_check', '--tool-arg', 'id=P6'];
  const P6_ANSWER = { structuredContent: { id: 'P6', title: 'price-integrity' } };

  test('the inspector lists and calls the tools over standard input and output', async () => {
    const command = [process.execPath, 'src/cli/main.ts', 'mcp'];
    expect((await inspect(command, ['tools/list'])).tools).toHaveLength(TOOL_COUNT);
    expect(await inspect(command, CALL)).toMatchObject(P6_ANSWER);
  });

  test('the inspector lists and calls the tools over HTTP', async () => {
    await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
    const url = `${await service.app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
    const target = [url, '--transport', 'http'];
    expect((await inspect(target, ['tools/list'])).tools).toHaveLength(TOOL_COUNT);
    expect(await inspect(target, CALL)).toMatchObject(P6_ANSWER);
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
