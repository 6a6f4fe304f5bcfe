#!/usr/bin/env node
// Plain JavaScript that any Node reads: one line where it is too old to run the rest.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `x402-scan needs Node 22.19 or newer, and this is ${process.versions.node}: install a newer one, or run "npx -p node@24 -p x402-scan x402-scan".`,
  );
  process.exit(2);
}
await keepCompiled();
await import('./main.js');

/**
 * Reading the bundle is half of a short run, so what was compiled is kept, in the user's own cache
 * folder: in a shared one others could put code in its place, and the package is not ours to write.
 */
async function keepCompiled() {
  const { enableCompileCache } = await import('node:module');
  const { join } = await import('node:path');
  const folder = await cacheFolder().catch(() => null);
  if (folder !== null) enableCompileCache(join(folder, 'x402-scan'));
}

/** Rejects for a user without a home. */
async function cacheFolder() {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (process.platform === 'win32' && LOCALAPPDATA) return LOCALAPPDATA;
  if (XDG_CACHE_HOME) return XDG_CACHE_HOME;
  const { homedir } = await import('node:os');
  return `${homedir()}/${process.platform === 'darwin' ? 'Library/Caches' : '.cache'}`;
}
