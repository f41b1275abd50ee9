import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';

/** An earlier build of the programs. */
export interface OlderBuild {
  /** The folder that holds its `dist/` and its package.json. */
  readonly root: string;
  /** A description for test titles. */
  readonly title: string;
}

/** The last commit without an identity of the store: the oldest supported version until there is a release. */
const OLDEST_BESIDE = 'a91e3ae1335f1aee9decd51576aa2fedf3da7af9';
const COPY = 'this version itself: the history that holds an older one is not there';

/**
 * Builds the newest release before this version, or without a release the commit above, once in `.tools/`. A repository without history (a
 * shallow clone, an archive) fetches it from the origin; if that fails, the current build is copied, and the title says so.
 */
export function olderBuild(): OlderBuild {
  const commit = [newestTag(), OLDEST_BESIDE].find((each) => each !== undefined && isThere(each));
  if (commit === undefined) return { root: copyOfThis(), title: COPY };
  const root = path.join(repositoryRoot, '.tools', `older-${commit}`);
  if (!existsSync(path.join(root, 'dist'))) compile(commit, root);
  return { root, title: commit };
}

function newestTag(): string | undefined {
  return git('describe', '--tags', '--abbrev=0', '--match=v*', 'HEAD^')?.trim();
}

function isThere(commit: string): boolean {
  if (git('cat-file', '-e', `${commit}^{commit}`) !== undefined) return true;
  git('fetch', '--quiet', '--depth=1', 'origin', commit);
  return git('cat-file', '-e', `${commit}^{commit}`) !== undefined;
}

/** The output of git; undefined if it fails or is not installed. */
function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: repositoryRoot,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}

/** Compiles without type checks. Modules resolve in the parent folder, which is this repository. */
function compile(commit: string, root: string): void {
  const making = `${root}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], {
    cwd: repositoryRoot,
    maxBuffer: ARCHIVE_BYTES_MAX,
  });
  execFileSync('tar', ['-x', '-C', making], { input: archive });
  const tsc = path.join(repositoryRoot, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', 'tsconfig.build.json', '--noCheck'], { cwd: making, stdio: 'ignore' });
  renameSync(making, root);
}

const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024;

function copyOfThis(): string {
  const root = path.join(repositoryRoot, '.tools', 'older-copy');
  rmSync(root, { recursive: true, force: true });
  for (const part of ['dist', 'package.json']) {
    cpSync(path.join(repositoryRoot, part), path.join(root, part), { recursive: true });
  }
  return root;
}
