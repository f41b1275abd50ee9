import path from 'node:path';

/** The path of a program that `npm run build` bundles. This file runs from `dist/orch/`, or from a bundle in `dist/bin/`. */
export function bundledProgram(name: string): string {
  return path.join(__dirname, '..', 'bin', `${name}.js`);
}
