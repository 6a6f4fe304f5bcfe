/** Stages of a scan; shown on standard error, on a terminal alone. */
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
