import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One kept input. */
export interface KeptInput {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The files of a folder of the corpus, in the order of their names. A `.hex` file is the bytes it spells; all others are as they are. */
export function keptInputs(folder: string): readonly KeptInput[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, bytes: bytesOf(name, readFileSync(path.join(folder, name))) }));
}

/** Spaces and what follows a `#` count for nothing. */
function bytesOf(name: string, content: Buffer): Buffer {
  if (!name.endsWith('.hex')) return content;
  return Buffer.from(content.toString('latin1').replaceAll(/#.*|\s/g, ''), 'hex');
}
