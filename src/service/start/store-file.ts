/**
 * `npm run backup -- FILE` writes the embedded store of STORE_URL to a new file, also while the service runs;
 * `npm run restore -- FILE` creates that store from a backup, before the service starts.
 */
import { inspect } from 'node:util';
import { loadEnvFile } from '../../scanner/environment/env-file.ts';
import { OperatorError } from '../../scanner/model/redact.ts';
import { DEFAULT_STORE_URL } from '../config/environment.ts';
import { backupStore, restoreStore } from '../store/open-store.ts';

const USAGES = {
  backup: 'npm run backup -- FILE: name the new file that the store is written to.',
  restore: 'npm run restore -- FILE: name the backup from which the store is created.',
};

/** Runs a command on one file and the store of STORE_URL. The exit code is 1 after an error, 2 after wrong usage. */
function runStoreFileCommand(command: keyof typeof USAGES, args: readonly string[]): void {
  const [file, ...excess] = args.filter((argument) => argument !== '--');
  if (file === undefined || excess.length > 0 || file.startsWith('-')) {
    console.error(USAGES[command]);
    process.exitCode = 2;
    return;
  }
  try {
    loadEnvFile();
    const storeUrl = process.env['STORE_URL'] || DEFAULT_STORE_URL;
    const isRestore = command === 'restore';
    const { hosts, payments } = isRestore
      ? restoreStore(storeUrl, file)
      : backupStore(storeUrl, file);
    const done = isRestore
      ? `${storeUrl} is restored from ${file}`
      : `${file} holds the store ${storeUrl}`;
    console.log(`${done}: ${hosts} hosts, ${payments} payments`);
  } catch (error) {
    console.error(error instanceof OperatorError ? error.message : inspect(error));
    process.exitCode = 1;
  }
}

const [command, ...args] = process.argv.slice(2);
runStoreFileCommand(command === 'restore' ? 'restore' : 'backup', args);
