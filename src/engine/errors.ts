/** What can go wrong with the engine itself. None of it is ever held against an origin. */

/** Our own fault: the scan is abandoned, uncharged, and nothing is stored. */
export class EngineFault extends Error {
  override readonly name: string = 'EngineFault';
}

/** Checks or tasks of ours break even on an origin that said nothing: no scan of this process can be judged. */
export class BrokenChecks extends EngineFault {
  override readonly name = 'BrokenChecks';

  constructor(broken: readonly string[]) {
    super(`${broken.join(', ')} breaks even on an origin that said nothing.`);
  }
}

/** More work waits than may; callers answer "try again later". */
export class PoolSaturated extends EngineFault {
  override readonly name = 'PoolSaturated';
}

/** What a task ran out of, twice. */
export type Limit = 'time' | 'memory' | 'stack';

/**
 * A task broke limits twice, or its scan used up its budget of processor time: whatever it was given
 * is at fault, not the machine.
 */
export class TaskLimitExceeded extends Error {
  override readonly name = 'TaskLimitExceeded';
  readonly limit: Limit | 'budget';

  constructor(task: string, limit: Limit | 'budget') {
    super(
      limit === 'budget'
        ? `${task} was not run: its scan used up its processor time.`
        : `${task} exceeded its limit of ${limit} twice.`,
    );
    this.limit = limit;
  }
}

/** A task threw twice on what it was given: our defect, at the cost of this task alone. */
export class TaskFault extends Error {
  override readonly name = 'TaskFault';

  constructor(task: string, detail: string) {
    super(`${task} threw twice: ${detail}`);
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
