/**
 * `npm run backup -- FILE` writes the embedded store of STORE_URL to a new file, also while the service runs;
 * `npm run restore -- FILE` creates that store from a backup, before the service starts.
 */
import { inspect } from 'node:util';
import { loadEnvFile } from '../../scanner/environment/env-file.ts';
import { OperatorError } from '../../scanner/model/redact.ts';
import { DEFAULT_STORE_URL } from '../config/environment.ts';
import { backupStore, restoreStore } from '../store/open-store.ts';

type StoreFileCommand = {
  readonly usage: string;
  /** Returns the line that is printed on success. */
  run(storeUrl: string, file: string): string;
};

const BACKUP: StoreFileCommand = {
  usage: 'npm run backup -- FILE: name the new file that the store is written to.',
  run(storeUrl, file) {
    const { hosts, payments } = backupStore(storeUrl, file);
    return `${file} holds the store ${storeUrl}: ${hosts} hosts, ${payments} payments`;
  },
};

const RESTORE: StoreFileCommand = {
  usage: 'npm run restore -- FILE: name the backup from which the store is created.',
  run(storeUrl, file) {
    const { hosts, payments } = restoreStore(storeUrl, file);
    return `${storeUrl} is restored from ${file}: ${hosts} hosts, ${payments} payments`;
  },
};

/** Runs a command on one file and the store of STORE_URL. The exit code is 1 after an error, 2 after wrong usage. */
function runStoreFileCommand({ usage, run }: StoreFileCommand, args: readonly string[]): void {
  const [file, ...excess] = args.filter((argument) => argument !== '--');
  if (file === undefined || excess.length > 0 || file.startsWith('-')) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  try {
    loadEnvFile();
    console.log(run(process.env['STORE_URL'] || DEFAULT_STORE_URL, file));
  } catch (error) {
    console.error(error instanceof OperatorError ? error.message : inspect(error));
    process.exitCode = 1;
  }
}

const [command, ...args] = process.argv.slice(2);
runStoreFileCommand(command === 'restore' ? RESTORE : BACKUP, args);
