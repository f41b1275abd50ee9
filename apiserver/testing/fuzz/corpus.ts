import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One input of the corpus. */
export interface KeptInput {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Reads the files of a corpus folder in the order of their names. A `.hex` file is decoded; all others are raw. */
export function keptInputs(folder: string): readonly KeptInput[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, bytes: bytesOf(name, readFileSync(path.join(folder, name))) }));
}

/** Ignores spaces, and comments after `#`. */
function bytesOf(name: string, content: Buffer): Buffer {
  if (!name.endsWith('.hex')) return content;
  return Buffer.from(content.toString('latin1').replaceAll(/#.*|\s/g, ''), 'hex');
}
