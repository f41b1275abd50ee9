import { execFileSync } from 'node:child_process';
import { programPath } from '../../deploy/local/repository';

/** The flags of a command line that are missing in the help of its program; none for other programs. */
export function unknownFlags(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => PROGRAM.test(word));
  const name = PROGRAM.exec(words[at] ?? '')?.[1];
  if (name !== 'apiserver' && name !== 'controller-manager') return [];
  const known = knownFlags(name);
  return words
    .slice(at + 1)
    .map((word) => /^--([^=]+)/u.exec(word)?.[1] ?? word)
    .filter((flag) => !known.has(flag));
}

const PROGRAM = /dist\/bin\/orch-(apiserver|controller-manager)\.js$/u;
const flagsByProgram = new Map<string, ReadonlySet<string>>();

function knownFlags(name: 'apiserver' | 'controller-manager'): ReadonlySet<string> {
  const known = flagsByProgram.get(name);
  if (known !== undefined) return known;
  const help = execFileSync(process.execPath, [programPath(name), '--help'], { encoding: 'utf8' });
  const flags = new Set([...help.matchAll(/^ +(?:-\w, )?--([a-z0-9-]+)/gmu)].map(([, flag = '']) => flag));
  flagsByProgram.set(name, flags);
  return flags;
}
