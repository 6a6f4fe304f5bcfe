import { CAP_POINTS, GRADES, POINTS, WEIGHTS } from '../../engine/score.ts';

const grades = GRADES.map(([grade, from]) => `${grade} from ${from}`).join(', ');

export const SCORE_NOTE =
  `scoring@1, integers throughout. Points by severity: critical ${POINTS.critical}, major ${POINTS.major}, minor ${POINTS.minor}; a pass earns all, a warn half, a fail none; ` +
  'results whose basis is not_determined are left out. Sub-score of a category = floor(100 * earned / possible). ' +
  `Score = floor of the weighted mean of the sub-scores, Protocol ${WEIGHTS.protocol}, Docs ${WEIGHTS.docs}, Standing ${WEIGHTS.directory}; a category with nothing determined drops out. ` +
  `Caps: any critical fail ${CAP_POINTS.criticalFail} at most, P1 fail ${CAP_POINTS.unreachable}, payableBy nobody ${CAP_POINTS.unpayable} at most; otherwise any critical warn or major fail of Protocol ${CAP_POINTS.flawed} at most. ` +
  `Grades: ${grades}, F below. Standing depends on third parties and moves a grade by one letter at most.`;
