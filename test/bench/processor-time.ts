/** Processor time of a host, from its own metrics. */
import type { HostProcess } from '../hosts/host-process.ts';

/** Seconds that all threads of a host have computed, by its own count. */
export async function processorSeconds(host: HostProcess): Promise<number> {
  const { body } = await host.get('/metrics');
  const [, seconds] = /^process_cpu_seconds_total (\S+)$/m.exec(body) ?? [];
  if (seconds === undefined) throw new Error('/metrics says nothing of the processor');
  return Number(seconds);
}
