/** The standing checks count settlements of this many days. */
export const WINDOW_DAYS = 30;
