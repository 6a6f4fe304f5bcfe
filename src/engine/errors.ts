import { EngineFault } from '../workers/errors.ts';

/** A check or task throws even on a silent origin, so this process cannot judge any scan. */
export class BrokenChecks extends EngineFault {
  override readonly name = 'BrokenChecks';

  constructor(broken: readonly string[]) {
    super(`${broken.join(', ')} breaks even on an origin that said nothing.`);
  }
}

/** A check file breaks the contract; the message lists every breach. */
export class CheckModuleError extends Error {
  override readonly name = 'CheckModuleError';
}

/** A catalog is invalid; the message names the file and the mistake. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}
