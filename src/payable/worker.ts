// Imported first: the network is closed before any package can keep a reference to it.
import './no-network.ts';

export { default } from '../workers/worker.ts';
