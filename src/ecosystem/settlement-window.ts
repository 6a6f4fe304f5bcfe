/** How far back settlements count. */

/** The window of the standing checks. */
export const WINDOW_DAYS = 30;
