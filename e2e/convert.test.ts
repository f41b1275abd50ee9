import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../deploy/local/repository';
import { GROUP } from '../shared/names';

const PROGRAM = path.join(repositoryRoot, 'dist', 'deploy', 'convert', 'main.js');
const OLD_ROLE = `apiVersion: ${GROUP.rbac}/v1beta1\nkind: Role\nmetadata:\n  name: r # old\nrules: []\n`;
const NEW_ROLE = OLD_ROLE.replace('v1beta1', 'v1');
const dir = mkdtempSync(path.join(tmpdir(), 'convert-'));
afterAll(() => rmSync(dir, { recursive: true }));

function convert(argv: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    input,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('orch-convert reads standard input and folders, and writes one stream', () => {
  const folder = path.join(dir, 'manifests');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'b.yaml'), OLD_ROLE);
  writeFileSync(path.join(folder, 'a.yml'), `---\n${OLD_ROLE}`);
  writeFileSync(path.join(folder, 'notes.txt'), 'none');
  expect(convert(['-f', '-'], OLD_ROLE)).toEqual({ status: 0, stdout: NEW_ROLE, stderr: '' });
  expect(convert(['-f', folder])).toEqual({
    status: 0,
    stdout: `---\n${NEW_ROLE}---\n${NEW_ROLE}`,
    stderr: '',
  });
});

test('errors name file and line, and nothing is written', () => {
  const file = path.join(dir, 'bad.yaml');
  writeFileSync(file, `${OLD_ROLE}---\nkind: Role\n`);
  expect(convert(['-f', file, '--output-version', `${GROUP.rbac}/v1`])).toEqual({
    status: 1,
    stdout: '',
    stderr: `${file}:7: an object needs apiVersion and kind\n`,
  });
  expect(convert(['-f', path.join(dir, 'none.yaml')])).toMatchObject({ status: 2 });
});
