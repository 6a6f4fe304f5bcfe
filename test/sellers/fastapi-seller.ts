import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ensurePythonEnv } from '../clients/python/python-env.ts';
import { startFacilitatorServer } from './facilitator-server.ts';
import { SELLER_PAY_TO, type Seller } from './seller.ts';

const SCRIPT = fileURLToPath(new URL('fastapi_seller.py', import.meta.url));

/** A seller on the official middleware for FastAPI, or what this machine lacks to run one. */
export async function startFastApiSeller(): Promise<Seller | { unavailable: string }> {
  const environment = await ensurePythonEnv();
  if ('unavailable' in environment) return environment;

  const facilitator = await startFacilitatorServer();
  const child = spawn(environment.python, [SCRIPT, facilitator.url, SELLER_PAY_TO], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  async function stop(): Promise<void> {
    process.off('exit', kill);
    kill();
    await exited;
    await facilitator.stop();
  }

  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const listening = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('listening ')) resolve(line.slice('listening '.length));
    });
  });
  const url = await Promise.race([listening, exited.then(() => null)]);
  if (url !== null) return { url, stop };
  await stop();
  throw new Error(`the FastAPI seller ended before it listened:\n${said.slice(-5).join('\n')}`);
}
