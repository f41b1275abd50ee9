import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json, found from this file, which runs both from source (in tests) and from `dist/`. */
export const repositoryRoot: string = findRoot(__dirname);

/** The compiled program of a command, of this build or of the build in another folder. */
export function programPath(program: keyof typeof FOLDERS, root: string = repositoryRoot): string {
  return path.join(root, 'dist', FOLDERS[program], 'main.js');
}

const FOLDERS = {
  admin: 'deploy/admin',
  convert: 'deploy/convert',
  apiserver: 'apiserver',
  'controller-manager': 'controller-manager',
} as const;

function findRoot(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error('no package.json above this file');
  return findRoot(parent);
}
