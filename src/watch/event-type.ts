export type EventType =
  | 'grade.changed'
  | 'payability.changed'
  | 'terms.changed'
  | 'check.failed'
  | 'check.recovered'
  | 'origin.unreachable'
  | 'origin.recovered'
  | 'listing.lapsing'
  | 'watch.ending'
  | 'watch.started'
  | 'watch.test';
