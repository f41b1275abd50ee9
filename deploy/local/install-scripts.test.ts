import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly hasInstallScript?: boolean; readonly dev?: boolean; readonly integrity?: string }
    >
  >;
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
}

// npm warns about every package that is not listed.
test('package.json allows or denies every install script of a package', () => {
  const { packages } = readJson('package-lock.json') as Lock;
  const { allowScripts } = readJson('package.json') as { readonly allowScripts: object };
  const scripted = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([place]) => place.replace(/^.*node_modules\//u, ''));
  expect(Object.keys(allowScripts)).toEqual([...new Set(scripted)].sort());
});

test('every production dependency has an integrity digest in the lock file', () => {
  const { packages } = readJson('package-lock.json') as Lock;
  const parts = Object.entries(packages).filter(([place, { dev }]) => place !== '' && dev !== true);
  expect(parts.length).toBeGreaterThan(5);
  expect(parts.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)).toEqual([]);
});
