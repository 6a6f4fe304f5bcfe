/** A comment names its subject: a reader cannot look up a pronoun. */
import type { Finding, HouseRule } from './finding.ts';

const CODE = /^(?:src|plugins|tools|demo|checks)\/.*\.ts$/;
/** A line that is comment from its start; text in quotes and templates is data. */
const COMMENT = /^\s*(?:\/\/|\/\*\*?|\*)\s/;
const PRONOUN = /\b(?:nobody|whoever|whomever|(?:any|some|every)(?:body|one))\b/i;

/** Refuses pronouns as in PRONOUN: the caller, the payer, the writer that lost have names. */
export const commentSubjects: HouseRule = (tree) =>
  tree.files
    .filter((file) => CODE.test(file))
    .flatMap((file) =>
      tree
        .read(file)
        .split('\n')
        .flatMap((line, index): Finding[] => {
          const [pronoun] = (COMMENT.test(line) && PRONOUN.exec(line)) || [];
          if (pronoun === undefined) return [];
          const message = `"${pronoun}" in a comment: name the subject, say what it does, then why`;
          return [{ file, line: index + 1, message }];
        }),
    );
