/**
 * The answer to every contended insert. `won`: the row in the store is the caller's own (also when
 * it was inserted by an earlier try with the same attempt id, whose reply got lost). `lost`:
 * another row holds the key, and the caller stops or reads again.
 */
export type InsertOutcome = 'won' | 'lost';
