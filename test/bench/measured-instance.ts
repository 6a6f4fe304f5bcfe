/** Reads the metrics of an instance, and measures the time of its paid scans. */
import type { InstanceProcess } from '../hosts/instance-process.ts';
import { newPurchase } from '../hosts/purchase.ts';

/** Seconds that all threads of an instance have computed, by its own count. */
export const processorSeconds = (instance: InstanceProcess) =>
  readMetric(instance, 'process_cpu_seconds_total');

/** Throws if the instance has no such metric. */
export async function readMetric(instance: InstanceProcess, name: string): Promise<number> {
  const { body } = await instance.get('/metrics');
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(body) ?? [];
  if (value === undefined) throw new Error(`/metrics has no ${name}`);
  return Number(value);
}

/** The time of a paid scan, by a payer at an address of their own. */
export async function scanMs(instance: InstanceProcess, url: string): Promise<number> {
  const { headers, client } = await newPurchase('scan');
  const startMs = performance.now();
  const { status, body } = await instance.post('/v1/scan', { url }, { ...headers, ...client });
  if (status !== 200) throw new Error(`a paid scan answered ${status}: ${body}`);
  return performance.now() - startMs;
}
