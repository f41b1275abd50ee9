/**
 * Checks the subjects of new commits: `area: imperative summary`, at most 72 characters. New are the commits that `origin/main` lacks, or the
 * last 50 if it does not exist. Commits up to the one that introduced the rule are exempt. Without git history nothing is checked.
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { answerHelp, repositoryRoot } from './toolchain.mjs';

const COMMITS_MAX = 50;
const LENGTH_MAX = 72;
const FORM = /^[a-z0-9][a-z0-9/:,. -]*: \S/u;
/** Landed before the check ran. */
const EXEMPT = new Set([
  'docs: replace the fidelity log by a compatibility table that a test reads',
  "storage: compile the decorators for the writer process of the embedded store's test",
  'fairness: apply configuration writes before the response, pass mandatory objects in',
  'schema: describe structural schemas, field sets and patches in standard terms',
]);
/** The rule is from this day; older commits are exempt even where the commit below is not in the history. */
const RULE_SINCE = '2026-11-28T00:00:00Z';
const LAST_EXEMPT = 'apiserver: split into engine/, kubernetes/ and compose/';

answerHelp(import.meta.url);
const hasRemote = git('rev-parse', '--verify', '--quiet', 'origin/main') !== undefined;
const log = git(
  'log',
  '--no-merges',
  `--since=${RULE_SINCE}`,
  '--format=%s',
  ...(hasRemote ? ['origin/main..HEAD'] : [`-${COMMITS_MAX}`]),
);
const subjects = (log ?? '').split('\n').filter((subject) => subject !== '');
const lastExempt = subjects.indexOf(LAST_EXEMPT);
const checked = lastExempt < 0 ? subjects : subjects.slice(0, lastExempt);
const wrong = checked.filter(
  (subject) => !EXEMPT.has(subject) && (!FORM.test(subject) || subject.length > LENGTH_MAX),
);
for (const subject of wrong)
  process.stderr.write(
    `commit subject is not "area: imperative summary" of at most ${LENGTH_MAX} characters: ${subject}\n`,
  );
process.exitCode = wrong.length === 0 ? 0 : 1;

/** The output of git; undefined if it fails, as it does without a repository. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
