/** Shows the stage that a scan has reached, on standard error and only on a terminal. */
const STAGES = {
  documents: 'reading documents',
  resources: 'asking for paid resources',
  details: 'settling details',
} as const;

export type Stage = keyof typeof STAGES;

export function createProgress(stream: NodeJS.WriteStream): {
  at(stage: Stage): void;
  end(): void;
} {
  const clear = '\r\u001b[2K';
  return {
    at: (stage) => {
      if (stream.isTTY) stream.write(`${clear}${STAGES[stage]} …`);
    },
    end: () => {
      if (stream.isTTY) stream.write(clear);
    },
  };
}
