/** The one module of undici that a connection needs; all of it would load fetch, caches and WebSockets too. */
declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
