import { inspect } from 'node:util';
import { DEFAULT_STORE_URL } from '../config/environment.ts';
import { StoreError } from '../store/contract/store-error.ts';
import { loadEnvFile } from './env-file.ts';

type StoreFileCommand = {
  readonly usage: string;
  /** Returns the line that is printed on success. */
  run(storeUrl: string, file: string): string;
};

/** Runs a command with one file and the store of STORE_URL; an error prints one line and exits with 1. */
export function runStoreFileCommand({ usage, run }: StoreFileCommand): void {
  const [file, ...more] = process.argv.slice(2).filter((argument) => argument !== '--');
  if (file === undefined || more.length > 0 || file.startsWith('-')) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  try {
    loadEnvFile();
    console.log(run(process.env['STORE_URL'] || DEFAULT_STORE_URL, file));
  } catch (error) {
    console.error(error instanceof StoreError ? error.message : inspect(error));
    process.exitCode = 1;
  }
}
