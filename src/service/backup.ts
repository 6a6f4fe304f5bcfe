/** `npm run backup -- FILE`: writes the embedded store of STORE_URL to a new file, also while the service runs. */
import { backupStore } from '../store/store-files.ts';
import { runStoreFileCommand } from './store-file-command.ts';

runStoreFileCommand({
  usage: 'npm run backup -- FILE: name the new file that the store is written to.',
  run(storeUrl, file) {
    const { hosts, payments } = backupStore(storeUrl, file);
    return `${file} holds the store ${storeUrl}: ${hosts} hosts, ${payments} payments`;
  },
});
