/** A Python library verifies our webhooks. The Python receiver that docs/owners.md prints runs unchanged. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { signHeaders } from '../../../src/service/watch/deliveries.ts';
import { ensurePythonJudges } from '../../fixtures/judges/python-judges.ts';
import { expectReceiverToVerify } from './printed-receiver.ts';

const run = promisify(execFile);
const judges = await ensurePythonJudges(['standardwebhooks==1.0.1']);
const python = 'python' in judges ? judges.python : '';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const VERIFY_SCRIPT = `
import json, sys
from standardwebhooks import Webhook
secret, body, headers = json.loads(sys.argv[1])
print(json.dumps(Webhook(secret).verify(body, headers)))
`;

test.skipIf(python === '')(
  'the Python library verifies webhooks that we signed, and rejects a changed body',
  async () => {
    const bodies = [
      '{"type":"watch.test"}',
      '{"text":"naïve ☃ \\u0000 𝒳"}',
      JSON.stringify('x'.repeat(20_000)),
    ];
    for (const body of bodies) {
      const headers = signHeaders(SECRET, 'msg_1', body, Date.now());
      const signed = JSON.stringify([SECRET, body, headers]);
      const { stdout } = await run(python, ['-c', VERIFY_SCRIPT, signed]);
      expect(JSON.parse(stdout)).toEqual(JSON.parse(body));
      const forged = JSON.stringify([SECRET, `${body} `, headers]);
      await expect(run(python, ['-c', VERIFY_SCRIPT, forged])).rejects.toThrow(
        /No matching signature/,
      );
    }
  },
);

test.skipIf(python === '')(
  'the receiver in Python agrees to receive events, and refuses a wrong signature',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'receiver-'));
    try {
      const page = await readFile(new URL('../../../docs/owners.md', import.meta.url), 'utf8');
      const code = /```python\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
      const file = join(folder, 'receiver.py');
      await writeFile(file, code);
      await expectReceiverToVerify(python, file);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
