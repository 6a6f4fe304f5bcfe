/** What can go wrong with the engine itself. None of it is ever held against an origin. */

/** Our own fault: the scan is abandoned, uncharged, and nothing is stored. */
export class EngineFault extends Error {
  override readonly name: string = 'EngineFault';
}

/** More work waits than may; callers answer "try again later". */
export class PoolSaturated extends EngineFault {
  override readonly name = 'PoolSaturated';
}

/** What a task ran out of, twice. */
export type Limit = 'time' | 'memory' | 'stack';

/** A task broke the same limits twice: whatever it was given is at fault, not the machine. */
export class TaskLimitExceeded extends Error {
  override readonly name = 'TaskLimitExceeded';
  readonly limit: Limit;

  constructor(task: string, limit: Limit) {
    super(`${task} exceeded its limit of ${limit} twice.`);
    this.limit = limit;
  }
}

/** A check file that does not keep to the contract; the message lists every breach. */
export class CheckModuleError extends Error {
  override readonly name = 'CheckModuleError';
}

/** A catalog that cannot be trusted; the message names the file and what is wrong with it. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}
