/** Where the command line writes. */
export type Streams = {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
};

/** Waits until the text is out: a pipe may still hold it when the process ends. */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
