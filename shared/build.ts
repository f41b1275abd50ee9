import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The build of the project. All but the version are empty without `npm run build`. */
export interface Build {
  readonly version: string;
  /** The hash of the commit. */
  readonly commit: string;
  /** `clean`; `dirty` if sources differed from the commit; empty if unknown. */
  readonly treeState: string;
  /** ISO 8601; the commit's date unless the builder sets another. */
  readonly date: string;
}

/** The package's version, and what `npm run build` wrote beside the compiled files (deploy/local/build-info.mjs). */
export function readBuild(dist: string = path.join(__dirname, '..')): Build {
  const { version = '' } = readPart(path.join(dist, '..', 'package.json'));
  const file = path.join(dist, 'build.json');
  const { commit = '', treeState = '', date = '' } = existsSync(file) ? readPart(file) : {};
  return { version, commit, treeState, date };
}

function readPart(file: string): Partial<Build> {
  return JSON.parse(readFileSync(file, 'utf8')) as Partial<Build>;
}
