import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readBuild } from '../../shared/build';

interface Info {
  readonly commit: string;
  readonly treeState: string;
  readonly date: string;
}

const MODULE = pathToFileURL(path.join(__dirname, 'build-info.mjs')).href;
/** 2026-05-06T07:08:09Z. */
const COMMITTED_AT = 1_778_051_289;
const NOW = Date.UTC(2027, 0, 1);

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'orch-build-info-')));
const clone = path.join(root, 'clone');
const archive = path.join(clone, 'unpacked');
const plain = path.join(root, 'plain');
let commit = '';

beforeAll(() => {
  for (const folder of [archive, plain]) mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(archive, 'source'), 'one');
  git('init', '--quiet');
  git('add', '.');
  const date = `${String(COMMITTED_AT)} +0200`;
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--message=one', `--date=${date}`);
  commit = git('rev-parse', 'HEAD').trim();
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

function git(...args: readonly string[]): string {
  const env = { ...process.env, GIT_COMMITTER_DATE: `${String(COMMITTED_AT)} +0200` };
  return execFileSync('git', args, { cwd: clone, env, encoding: 'utf8' });
}

/** Jest cannot import the module, so that another process runs it. */
function run(expression: string): string {
  const text = `import { readBuildInfo, writeBuildInfo } from ${JSON.stringify(MODULE)}; ${expression}`;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', text], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

function infoOf(folder: string, env: Readonly<Record<string, string>> = {}): Info {
  const args = [folder, env, NOW].map((each) => JSON.stringify(each)).join(', ');
  return JSON.parse(run(`console.log(JSON.stringify(readBuildInfo(${args})))`)) as Info;
}

test('commit, state and date of a clone come from git', () => {
  expect(infoOf(clone)).toEqual({ commit, treeState: 'clean', date: '2026-05-06T07:08:09Z' });
  writeFileSync(path.join(clone, 'new'), 'x');
  expect(infoOf(clone).treeState).toBe('dirty');
  rmSync(path.join(clone, 'new'));
});

test.each([
  ['a folder without history', plain],
  ['a folder in the clone of something else', archive],
])('%s has no commit, and the date is the present', (_title, folder) => {
  expect(infoOf(folder)).toEqual({ commit: '', treeState: '', date: '2027-01-01T00:00:00Z' });
});

test.each([
  [{ SOURCE_DATE_EPOCH: '0' }, { date: '1970-01-01T00:00:00Z' }],
  [{ SOURCE_DATE_EPOCH: '1', ORCH_BUILD_DATE: '2026-01-02T03:04:05Z' }, { date: '2026-01-02T03:04:05Z' }],
  [{ ORCH_BUILD_DATE: '', SOURCE_DATE_EPOCH: '' }, { date: '2026-05-06T07:08:09Z' }],
  [{ ORCH_BUILD_COMMIT: 'abc' }, { commit: 'abc', treeState: '' }],
  [
    { ORCH_BUILD_COMMIT: 'abc', ORCH_BUILD_TREE_STATE: 'dirty' },
    { commit: 'abc', treeState: 'dirty' },
  ],
])('the environment goes before git: %j', (env, expected) => {
  expect(infoOf(clone, env)).toMatchObject(expected);
});

test('SOURCE_DATE_EPOCH that is not a number is refused', () => {
  expect(() => infoOf(plain, { SOURCE_DATE_EPOCH: 'yesterday' })).toThrow(
    'SOURCE_DATE_EPOCH must be seconds since 1970, not "yesterday".',
  );
});

test('programs read the build information; without it they have only their version', () => {
  const dist = path.join(plain, 'dist');
  mkdirSync(dist, { recursive: true });
  writeFileSync(path.join(plain, 'package.json'), '{"version":"1.2.3"}');
  expect(readBuild(dist)).toEqual({ version: '1.2.3', commit: '', treeState: '', date: '' });
  const info = { commit: 'abc', treeState: 'clean', date: '2026-01-02T03:04:05Z' };
  run(`writeBuildInfo(${JSON.stringify(plain)}, ${JSON.stringify(info)})`);
  expect(readBuild(dist)).toEqual({ version: '1.2.3', ...info });
  expect(readFileSync(path.join(dist, 'build.json'), 'utf8').endsWith('\n')).toBe(true);
});
