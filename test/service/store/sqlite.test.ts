/** The contract suite on the embedded store. */
import { storeContract } from './contract.ts';
import { sqliteSubject } from './sqlite-subject.ts';

storeContract('the embedded store', sqliteSubject());
