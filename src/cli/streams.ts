export type Streams = {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
};

/** Waits until the text is written: a process that ends earlier would lose text in a pipe. */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
