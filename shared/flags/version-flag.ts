import type { Build } from '../build';
import { readBuild } from '../build';
import { boolOf } from './flag-value';

/** The decision about `--version`: print a line and exit, fail, or continue with the other words. */
export type VersionRequest =
  | { readonly outcome: 'line'; readonly line: string }
  | { readonly outcome: 'error'; readonly error: string }
  | { readonly outcome: 'none'; readonly argv: readonly string[] };

/** Parses `--version`: alone or `=true` prints one line, `=raw` the build as JSON, `=false` nothing. The last one wins. */
export function parseVersionFlag(
  program: string,
  argv: readonly string[],
  read: () => Build = readBuild,
): VersionRequest {
  const asked = argv.filter(isVersionWord).at(-1);
  if (asked === undefined) return { outcome: 'none', argv };
  const value = asked.slice(FLAG.length + 1) || (asked === FLAG ? 'true' : '');
  if (value === 'raw') return { outcome: 'line', line: rawLine(program, read()) };
  const wish = boolOf(value);
  if (wish === undefined) return { outcome: 'error', error: wrongValue(value) };
  return wish
    ? { outcome: 'line', line: versionLine(program, read()) }
    : { outcome: 'none', argv: argv.filter((word) => !isVersionWord(word)) };
}

const FLAG = '--version';

function isVersionWord(word: string): boolean {
  return word === FLAG || word.startsWith(`${FLAG}=`);
}

function wrongValue(value: string): string {
  return `invalid value "${value}" for ${FLAG}: it is not one of true, false, raw`;
}

function rawLine(program: string, build: Build): string {
  return JSON.stringify({
    program,
    ...build,
    runtime: `node ${process.versions.node}`,
    platform: `${process.platform}/${process.arch}`,
  });
}

/** `orch-apiserver 0.1.0`, and commit (`-dirty` where sources differed from it) and date where they are known. */
function versionLine(program: string, { version, commit, treeState, date }: Build): string {
  const sources = commit !== '' && treeState === 'dirty' ? `${commit}-dirty` : commit;
  return [program, version, sources, date].filter((word) => word !== '').join(' ');
}
