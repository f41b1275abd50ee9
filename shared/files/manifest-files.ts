import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const MANIFEST = /\.(?:ya?ml|json)$/u;

export interface ManifestFile {
  /** The path, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Reads what `-f` of kubectl names: a file, `-` for standard input, or of a folder the files that end in .yaml, .yml and .json by name, without
 * its subfolders.
 *
 * @throws Error of the file system
 */
export function readManifestFiles(name: string): readonly ManifestFile[] {
  if (name === '-') return [{ name: 'standard input', text: readFileSync(0, 'utf8') }];
  if (!statSync(name).isDirectory()) return [{ name, text: readFileSync(name, 'utf8') }];
  return readdirSync(name)
    .filter((file) => MANIFEST.test(file))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((file) => path.join(name, file))
    .map((file) => ({ name: file, text: readFileSync(file, 'utf8') }));
}
