/** The sources of a build, for `--version`, `/version`, metrics and image labels. */
import { spawnSync } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const SECONDS = /^\d{1,11}$/u;

/**
 * `commit` (its hash), `treeState` (`clean`, or `dirty` where files differ from the commit) and `date` (ISO 8601) of the sources in `folder`. The
 * environment has precedence: ORCH_BUILD_COMMIT, ORCH_BUILD_TREE_STATE, ORCH_BUILD_DATE, and SOURCE_DATE_EPOCH (seconds since 1970). The rest
 * comes from git if the folder is a clone; otherwise commit and state are empty, and the date is `now` (milliseconds since 1970).
 * Throws when SOURCE_DATE_EPOCH is not a number of seconds.
 */
export function readBuildInfo(folder, env, now) {
  const git = gitOf(folder);
  const given = (name) => (env[name] === '' ? undefined : env[name]);
  const commit = given('ORCH_BUILD_COMMIT');
  return {
    commit: commit ?? git('rev-parse', 'HEAD') ?? '',
    // The tree state of this clone does not apply to a commit from the environment.
    treeState: given('ORCH_BUILD_TREE_STATE') ?? (commit === undefined ? treeStateOf(git) : ''),
    date:
      given('ORCH_BUILD_DATE') ??
      dateOfEpoch(given('SOURCE_DATE_EPOCH')) ??
      // The date of the commit, for reproducible builds.
      dateOfEpoch(git('log', '-1', '--format=%ct')) ??
      isoDate(now),
  };
}

/** Writes the information to `dist/build.json` in `folder`, where the programs read it. */
export function writeBuildInfo(folder, info) {
  writeFileSync(path.join(folder, 'dist', 'build.json'), `${JSON.stringify(info)}\n`);
}

/** Returns a function that runs git in the folder: its output, or undefined if it fails or the folder is not the top of a clone. */
function gitOf(folder) {
  const run = (...args) => {
    const { stdout, status } = spawnSync('git', ['--no-optional-locks', ...args], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: OUTPUT_BYTES_MAX,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return status === 0 ? stdout.trim() : undefined;
  };
  const top = run('rev-parse', '--show-toplevel');
  // An archive unpacked inside another clone does not belong to that clone's commit.
  const isTop = top !== undefined && realpathSync(top) === realpathSync(folder);
  return isTop ? run : () => undefined;
}

function treeStateOf(git) {
  const changes = git('status', '--porcelain');
  if (changes === undefined) return '';
  return changes === '' ? 'clean' : 'dirty';
}

function dateOfEpoch(seconds) {
  if (seconds === undefined) return undefined;
  if (!SECONDS.test(seconds))
    throw new Error(`SOURCE_DATE_EPOCH must be seconds since 1970, not "${seconds}".`);
  return isoDate(Number(seconds) * 1000);
}

/** In whole seconds. */
function isoDate(milliseconds) {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/u, 'Z');
}

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
