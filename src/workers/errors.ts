/** The failure is ours: the scan is abandoned, uncharged, and nothing is stored. */
export class EngineFault extends Error {
  override readonly name: string = 'EngineFault';
}

/** The queue is full; callers answer "try again later". */
export class PoolSaturated extends EngineFault {
  override readonly name = 'PoolSaturated';
}

export type Limit = 'time' | 'memory' | 'stack';

/**
 * A task broke limits twice, or its scan used up its budget of processor time: its input is at fault,
 * not the machine.
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

/** A task threw twice on its input: a defect of ours that costs this task alone. */
export class TaskFault extends Error {
  override readonly name = 'TaskFault';

  constructor(task: string, detail: string) {
    super(`${task} threw twice: ${detail}`);
  }
}
