/** Milliseconds of processor time since an arbitrary start. */
export type ProcessorTime = () => number;

/**
 * Processor time of this thread in milliseconds. Node before 23.9 measures the whole process only, which
 * charges a scan too much, never too little.
 */
export const threadTime: ProcessorTime = () => {
  const { user, system } =
    typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
};
