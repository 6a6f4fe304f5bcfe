/** `npm run restore -- FILE`: makes the embedded store of STORE_URL of a backup, before the service starts. */
import { restoreStore } from '../store/store-files.ts';
import { runStoreFileCommand } from './store-file-command.ts';

runStoreFileCommand({
  usage: 'npm run restore -- FILE: name the backup that the store is made of.',
  run(storeUrl, file) {
    const { hosts, payments } = restoreStore(storeUrl, file);
    return `${storeUrl} is ${file} again: ${hosts} hosts, ${payments} payments`;
  },
});
