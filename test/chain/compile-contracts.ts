/** Compiles the contracts beside this file; the result is cached, never committed. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type Hex, isHex } from 'viem';
import { buildOnce } from '../build-once.ts';

const CONTRACTS = ['Token', 'Multicall', 'ContractWallet'] as const;

/** Runtime bytecode by contract name, ready for `anvil_setCode`. */
export type CompiledContracts = Record<(typeof CONTRACTS)[number], Hex>;

const SETTINGS = {
  optimizer: { enabled: true, runs: 200 },
  // Older than what anvil runs, so that either may be updated without the other.
  evmVersion: 'cancun',
  outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
};

const Output = Type.Object({
  errors: Type.Optional(
    Type.Array(Type.Object({ severity: Type.String(), formattedMessage: Type.String() })),
  ),
  contracts: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Record(
        Type.String(),
        Type.Object({
          evm: Type.Object({ deployedBytecode: Type.Object({ object: Type.String() }) }),
        }),
      ),
    ),
  ),
});

/** About a second the first time, nothing after that. Throws with the compiler's words. */
export async function compileContracts(): Promise<CompiledContracts> {
  const sources = await Promise.all(
    CONTRACTS.map(async (name) => ({
      name,
      content: await readFile(new URL(`${name}.sol`, import.meta.url), 'utf8'),
    })),
  );
  const input = JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(sources.map(({ name, content }) => [name, { content }])),
    settings: SETTINGS,
  });
  const key = createHash('sha256').update(input).digest('hex').slice(0, 24);
  const file = await buildOnce(`contracts/${key}.json`, async (draft) => {
    const output = await runCompiler(input);
    readOutput(output);
    await writeFile(draft, output);
  });
  return readOutput(await readFile(file, 'utf8'));
}

/** In a process of its own: the compiler is 9 MB of WebAssembly and handles rejections globally. */
function runCompiler(input: string): Promise<string> {
  const solc = createRequire(import.meta.url).resolve('solc/solc.js');
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [solc, '--standard-json'],
      { maxBuffer: 16 * 1024 * 1024, cwd: fileURLToPath(new URL('.', import.meta.url)) },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`solc did not run: ${error.message}\n${stderr}`));
        // The command line writes a line about its SMT solver before the JSON.
        else resolve(stdout.slice(stdout.indexOf('{')));
      },
    );
    child.stdin?.end(input);
  });
}

function readOutput(output: string): CompiledContracts {
  const { errors = [], contracts = {} } = Value.Parse(Output, JSON.parse(output));
  const failures = errors.filter((error) => error.severity === 'error');
  if (failures.length > 0) {
    throw new Error(failures.map((failure) => failure.formattedMessage).join('\n'));
  }
  const codeOf = (name: (typeof CONTRACTS)[number]): Hex => {
    const code = `0x${contracts[name]?.[name]?.evm.deployedBytecode.object ?? ''}`;
    if (!isHex(code) || code === '0x') throw new Error(`solc gave no code for ${name}.sol`);
    return code;
  };
  return {
    Token: codeOf('Token'),
    Multicall: codeOf('Multicall'),
    ContractWallet: codeOf('ContractWallet'),
  };
}
