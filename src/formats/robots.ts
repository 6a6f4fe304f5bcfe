/** robots.txt by RFC 9309. */

export type RobotsFacts = {
  /** Whether `agent` may fetch `path` (longest match wins, allow wins a tie). */
  allows(agent: string, path: string): boolean;
  /** Agents with a group of their own, lower case. */
  readonly agents: readonly string[];
};
