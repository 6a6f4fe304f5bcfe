/** Writes what is generated from the tables of networks and schemes; run it after an upgrade. */
import { writeFile } from 'node:fs/promises';
import { networksDocument } from './document.ts';
import { knownAssetsModule } from './known-assets.ts';

const ROOT = new URL('../../', import.meta.url);

await writeFile(new URL('src/parse/x402/known-assets.ts', ROOT), knownAssetsModule());
await writeFile(new URL('docs/networks-and-schemes.md', ROOT), networksDocument());
