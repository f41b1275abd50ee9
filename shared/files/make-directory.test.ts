import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeDirectory } from './make-directory';

let dir = '';

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'directory-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

test('a directory is made with those above it, all with the mode, and one that is there stays', () => {
  const made = path.join(dir, 'a', 'b', 'c');
  makeDirectory(made, 0o700);
  for (const each of [made, path.dirname(made)]) expect(statSync(each).mode & 0o777).toBe(0o700);
  makeDirectory(made, 0o777);
  expect(statSync(made).mode & 0o777).toBe(0o700);
});

test('a link to a directory is one', () => {
  symlinkSync(dir, path.join(dir, 'link'));
  makeDirectory(path.join(dir, 'link', 'a'), 0o700);
  expect(statSync(path.join(dir, 'a')).isDirectory()).toBe(true);
});

test.each([
  ['is a file', 'file', /it is no directory/],
  ['is below a file', 'file/a/b', /ENOTDIR/],
  ['is a link to nothing', 'nowhere', /ENOENT/],
])('a path that %s is refused and named', (_what, below, why) => {
  writeFileSync(path.join(dir, 'file'), '');
  symlinkSync(path.join(dir, 'missing'), path.join(dir, 'nowhere'));
  const refused = path.join(dir, below);
  expect(() => {
    makeDirectory(refused, 0o700);
  }).toThrow(`the directory ${refused} cannot be made: `);
  expect(() => {
    makeDirectory(refused, 0o700);
  }).toThrow(why);
});

test('a path below /proc is refused at once, at any depth', () => {
  for (const below of ['/proc/orch', '/proc/orch/certs']) {
    expect(() => {
      makeDirectory(below, 0o700);
    }).toThrow(/^the directory \/proc\/orch.* cannot be made: .*ENOENT/);
  }
});
