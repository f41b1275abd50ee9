import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json, found from this file, which runs both from source (in tests) and from `dist/`. */
export const repositoryRoot: string = findRoot(__dirname);

/** The compiled program of a command, of this build or of the build in another folder. */
export function programPath(program: Program, root: string = repositoryRoot): string {
  const bundle = path.join(root, 'dist', 'bin', `orch-${program}.js`);
  // An older build has no bundles.
  return existsSync(bundle) ? bundle : requireBuilt(modulesPath(program, root));
}

/** Returns the path of a file of the build; throws if it is not built. */
export function requireBuilt(file: string): string {
  if (existsSync(file)) return file;
  throw new Error(`${file} does not exist: run npm run build first`);
}

/** The same program as separate modules, which a file of `node --require` can change. */
export function modulesPath(program: Program, root: string = repositoryRoot): string {
  return path.join(root, 'dist', FOLDERS[program], 'main.js');
}

const FOLDERS = {
  admin: 'deploy/admin',
  convert: 'deploy/convert',
  apiserver: 'apiserver',
  'controller-manager': 'controller-manager',
  node: 'controller-manager/node',
  scheduler: 'controller-manager/scheduler',
} as const;

type Program = keyof typeof FOLDERS;

function findRoot(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error('no package.json above this file');
  return findRoot(parent);
}
