import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Which build of the project this is. */
export interface Build {
  readonly version: string;
  /** Empty outside of images. */
  readonly commit: string;
  /** ISO 8601; empty outside of images. */
  readonly date: string;
}

/** The package's version; commit and date are known to a release's image alone and come from its environment. */
export function readBuild(): Build {
  const manifest = path.join(__dirname, '..', '..', 'package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  return {
    version,
    commit: process.env['ORCH_BUILD_COMMIT'] ?? '',
    date: process.env['ORCH_BUILD_DATE'] ?? '',
  };
}
