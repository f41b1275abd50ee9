import { tmpdir } from 'node:os';
import { programPath } from './repository';

test('a program that is not built is an error that names the command to build it', () => {
  expect(() => programPath('apiserver', tmpdir())).toThrow('run npm run build first');
});
