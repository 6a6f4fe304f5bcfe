/** Maps the file of a large directory into memory. */
import type { Connection } from './connection.ts';

/** Lists of so many hosts read from all over a file of some 50 MiB; the pages of a smaller one are few. */
const LARGE = 50_000;

/** @param hosts that are listed, or as many of them as are known of */
export function mapWhereLarge(connection: Connection, hosts: number): void {
  if (hosts >= LARGE) connection.mapFile();
}
