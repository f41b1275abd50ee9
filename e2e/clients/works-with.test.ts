import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';
import { CLIENTS } from './clients';

test('every client has a recorded run, in the order of the table', () => {
  const results: unknown = JSON.parse(readFileSync(path.join(__dirname, 'results.json'), 'utf8'));
  expect(Object.keys(results as object)).toEqual(CLIENTS.map(({ title }) => title));
});

test('the README shows the recorded runs', () => {
  const generator = path.join(repositoryRoot, 'deploy', 'local', 'works-with.mjs');
  expect(execFileSync(process.execPath, [generator, '--check'], { encoding: 'utf8' })).toBe('');
});
