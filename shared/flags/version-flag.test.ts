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
  '%s prints one line with the version',
  (...words) => {
    const wish = parseVersionFlag('prog', ['--other', ...words, '-v', '4'], readBuild());
    expect(wish).toEqual({ outcome: 'line', line: 'prog 1.2.3 abc' });
  },
);

test('sources that differed from the commit are reported', () => {
  const wish = parseVersionFlag('prog', ['--version'], readBuild('dirty'));
  expect(wish).toEqual({ outcome: 'line', line: 'prog 1.2.3 abc-dirty' });
});

test('raw prints everything about the build', () => {
  const wish = parseVersionFlag('prog', ['--version=raw'], readBuild());
  expect(wish.outcome === 'line' ? JSON.parse(wish.line) : wish).toMatchObject({
    program: 'prog',
    version: '1.2.3',
    commit: 'abc',
    runtime: `node ${process.versions.node}`,
  });
});

test('without --version the other words are kept', () => {
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
