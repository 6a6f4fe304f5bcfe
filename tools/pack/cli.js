#!/usr/bin/env node
// Plain JavaScript that any Node reads: one line where it is too old to run the rest.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `x402-scan needs Node 22.19 or newer, and this is ${process.versions.node}: install a newer one, or run "npx -p node@24 -p x402-scan x402-scan".`,
  );
  process.exit(2);
}
await import('./main.js');
