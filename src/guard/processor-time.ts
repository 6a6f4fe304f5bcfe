/** What TLS is charged by. */

/** Milliseconds of processor time from some beginning on. */
export type ProcessorTime = () => number;

/**
 * Processor time that this thread has used, in milliseconds. Node before 23.9 knows that of the
 * process only, which is more: a scan is charged too much by it, never too little.
 */
export const threadTime: ProcessorTime = () => {
  const { user, system } =
    typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};
