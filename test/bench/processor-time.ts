/** Processor time of an instance, from its own metrics. */
import type { InstanceProcess } from '../hosts/instance-process.ts';

/** Seconds that all threads of an instance have computed, by its own count. */
export async function processorSeconds(instance: InstanceProcess): Promise<number> {
  const { body } = await instance.get('/metrics');
  const [, seconds] = /^process_cpu_seconds_total (\S+)$/m.exec(body) ?? [];
  if (seconds === undefined) throw new Error('/metrics says nothing of the processor');
  return Number(seconds);
}
