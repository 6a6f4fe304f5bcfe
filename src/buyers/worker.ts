// Must be imported first: it disables the network before a package can keep a reference to it.
import './no-network.ts';

export { default, default as 'module.exports' } from '../workers/worker.ts';
