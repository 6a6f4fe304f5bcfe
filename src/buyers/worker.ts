// Imported first: it disables the network before a package can keep a reference to `fetch`.
import './no-network.ts';

export { default, default as 'module.exports' } from '../workers/worker.ts';
