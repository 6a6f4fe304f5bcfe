/** `scoring@1` in words, for the catalog's note, the site and llms-full.txt: anyone can recompute it. */
export const SCORING_TEXT =
  'scoring@1, integers throughout. Points: critical 20, major 10, minor 4; a pass earns all, a warn half, ' +
  'a fail none; results whose basis is not_determined leave both sides of the sum. Sub-score of a category = ' +
  'floor(100 * earned / possible). Score = floor of the weighted mean of the sub-scores: Protocol 50, Docs 40, ' +
  'Standing 10; a category with nothing determined drops out and the others are re-weighted. Caps: any critical ' +
  'fail at most 49, a P1 fail 0; otherwise any critical warn or a major fail in Protocol at most 89. ' +
  'Grade: A from 90, B from 80, C from 65, D from 50, F below.';
