#!/usr/bin/env node
// Plain JavaScript for any Node: prints one line if Node is too old for the rest.
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
 * Compiling the bundle takes half of a short run, so the result is cached in the user's own cache folder.
 * In a shared folder other users could replace the code.
 */
async function keepCompiled() {
  const { enableCompileCache } = await import('node:module');
  const { join } = await import('node:path');
  const folder = await cacheFolder().catch(() => null);
  if (folder !== null) enableCompileCache(join(folder, 'x402-scan'));
}

/** Rejects for a user without a home folder. */
async function cacheFolder() {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (process.platform === 'win32' && LOCALAPPDATA) return LOCALAPPDATA;
  if (XDG_CACHE_HOME) return XDG_CACHE_HOME;
  const { homedir } = await import('node:os');
  return `${homedir()}/${process.platform === 'darwin' ? 'Library/Caches' : '.cache'}`;
}
