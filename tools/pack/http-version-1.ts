/** Bundler plugin: undici without its HTTP/2, which probes speak by `node:http2` alone, and which is slow to load. */
import type { Plugin } from 'rolldown';

const HTTP2 = './client-h2.js';
const ABSENT = '\0undici-http2';

export function httpVersion1(): Plugin {
  return {
    name: 'http-version-1',
    resolveId: (source, importer = '') =>
      source === HTTP2 && /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]/.test(importer) ? ABSENT : null,
    load: (id) =>
      id === ABSENT
        ? 'module.exports = () => { throw new Error("No HTTP/2 here: connections to origins offer HTTP/1.1."); };'
        : null,
  };
}
