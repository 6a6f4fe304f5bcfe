import { EngineFault } from '../workers/errors.ts';

/** Checks or tasks of ours break even on an origin that said nothing: no scan of this process can be judged. */
export class BrokenChecks extends EngineFault {
  override readonly name = 'BrokenChecks';

  constructor(broken: readonly string[]) {
    super(`${broken.join(', ')} breaks even on an origin that said nothing.`);
  }
}

/** A check file that does not keep to the contract; the message lists every breach. */
export class CheckModuleError extends Error {
  override readonly name = 'CheckModuleError';
}

/** A catalog that cannot be trusted; the message names the file and the mistake. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}
