import type { MembershipSettings } from '../contract/instances.ts';

export type LimitDocument = {
  readonly _id: string;
  readonly count: number;
  readonly resetAtMs: number;
};

export type InstanceDocument = {
  /** The boot id. */
  readonly _id: string;
  readonly host: string;
  readonly beatAtMs: number;
  /** False while it is still finding out whether it may join. */
  readonly joined: boolean;
  readonly settings: MembershipSettings;
};

export type MetaDocument = {
  readonly _id: string;
  readonly version: number;
};
