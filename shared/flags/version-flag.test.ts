import type { Build } from '../build';
import { parseVersionFlag } from './version-flag';

const readBuild =
  (treeState = 'clean') =>
  (): Build => ({
    version: '1.2.3',
    commit: 'abc',
    treeState,
    date: '',
  });

test.each([['--version'], ['--version=true'], ['--version=T'], ['--version=false', '--version']])(
  'one line with the version is asked for by %s',
  (...words) => {
    const wish = parseVersionFlag('prog', ['--other', ...words, '-v', '4'], readBuild());
    expect(wish).toEqual({ outcome: 'line', line: 'prog 1.2.3 abc' });
  },
);

test('sources that differed from the commit are told', () => {
  const wish = parseVersionFlag('prog', ['--version'], readBuild('dirty'));
  expect(wish).toEqual({ outcome: 'line', line: 'prog 1.2.3 abc-dirty' });
});

test('raw asks for all that is known of the build', () => {
  const wish = parseVersionFlag('prog', ['--version=raw'], readBuild());
  expect(wish.outcome === 'line' ? JSON.parse(wish.line) : wish).toMatchObject({
    program: 'prog',
    version: '1.2.3',
    commit: 'abc',
    runtime: `node ${process.versions.node}`,
  });
});

test('whoever does not ask goes on with the other words', () => {
  expect(parseVersionFlag('prog', ['-v', '4'])).toEqual({ outcome: 'none', argv: ['-v', '4'] });
  expect(parseVersionFlag('prog', ['--version=false', '-v', '4'])).toEqual({
    outcome: 'none',
    argv: ['-v', '4'],
  });
});

test.each([['--version=nope'], ['--version=']])('%s is refused', (word) => {
  expect(parseVersionFlag('prog', [word])).toMatchObject({
    outcome: 'error',
    error: expect.stringContaining('true, false, raw') as string,
  });
});
