// Plain JavaScript for any Node: prints what to do if Node is too old for TypeScript sources, and
// otherwise imports the named file. npm scripts find the pinned Node 24 in node_modules/.bin first.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const NEEDED_MAJOR = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < NEEDED_MAJOR) {
  console.error(
    `This is Node ${process.versions.node}; the sources need Node ${NEEDED_MAJOR}. ` +
      'Run "npm ci" (it brings Node 24 along on Linux x64 and arm64 with glibc, macOS arm64 and Windows x64) ' +
      'and start through npm ("npm start", "npm test"), or install Node 24 (on Alpine: the image node:24-alpine).',
  );
  process.exit(2);
}
const [, , entry, ...rest] = process.argv;
if (entry === undefined) {
  console.error('usage: node tools/require-node.mjs FILE [arguments]');
  process.exit(2);
}
const file = resolve(entry);
process.argv = [process.argv[0], file, ...rest];
await import(pathToFileURL(file).href);
