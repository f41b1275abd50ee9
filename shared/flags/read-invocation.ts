import type { Command } from './command';
import { helpText } from './help';
import { suggestion } from './suggestion';

/** A program of several commands. */
export interface CommandProgram {
  /** The name as one types it. */
  readonly name: string;
  /** A sentence for help texts. */
  readonly summary: string;
  /** One that is named by more words comes before one that is named by fewer of them. */
  readonly commands: readonly Command[];
}

/** What a command line asks for: a text to print, a command to run with the words after its name, or complaints about the words `about`. */
export type Invocation =
  | { readonly outcome: 'help'; readonly text: string }
  | { readonly outcome: 'command'; readonly command: Command; readonly argv: readonly string[] }
  | { readonly outcome: 'errors'; readonly errors: readonly string[]; readonly about: string };

/**
 * Reads `argv` (without the program itself). A command is named by its first words; the words that several commands share name their
 * group, which has a help text and cannot be run. `--help` and `-h` may stand anywhere.
 */
export function readInvocation(program: CommandProgram, argv: readonly string[]): Invocation {
  const { commands } = program;
  const words = argv.filter((word) => !isHelpWord(word));
  const wantsHelp = words.length < argv.length;
  const command = commands.find(({ name }) => isPrefix(name, words));
  if (command !== undefined) {
    return wantsHelp
      ? { outcome: 'help', text: helpOfCommand(program, command) }
      : { outcome: 'command', command, argv: words.slice(command.name.length) };
  }
  const named = words.slice(0, positionOfFlags(words));
  const members = commands.filter(({ name }) => isPrefix(named, name));
  if (members.length === 0) return unknown(program, named);
  if (wantsHelp) return { outcome: 'help', text: helpOfGroup(program, named, members) };
  const flag = words.at(named.length);
  const error = flag === undefined ? 'no command given' : `unknown flag: ${flag}`;
  return { outcome: 'errors', errors: [error], about: spelled(program, named) };
}

/** A command as one types it. */
export function spelled(program: CommandProgram, name: readonly string[]): string {
  return [program.name, ...name].join(' ');
}

function isHelpWord(word: string): boolean {
  return word === '--help' || word === '-h';
}

function isPrefix(prefix: readonly string[], words: readonly string[]): boolean {
  return prefix.every((word, index) => words[index] === word);
}

function positionOfFlags(words: readonly string[]): number {
  const position = words.findIndex((word) => word.startsWith('-'));
  return position < 0 ? words.length : position;
}

function unknown(program: CommandProgram, named: readonly string[]): Invocation {
  const { commands } = program;
  const given = named.join(' ');
  const names = commands.map(({ name }) => name.join(' '));
  const error = `unknown command: ${given}${suggestion(given, names)}`;
  const group = named.slice(0, 1);
  const about = commands.some(({ name }) => isPrefix(group, name)) ? spelled(program, group) : program.name;
  return { outcome: 'errors', errors: [error], about };
}

/** Flags, and the longer commands that begin with its words. */
function helpOfCommand(program: CommandProgram, { name, summary, flags }: Command): string {
  const text = helpText(flags, { program: spelled(program, name), summary });
  const longer = program.commands.filter(
    (each) => each.name.length > name.length && isPrefix(name, each.name),
  );
  return longer.length === 0 ? text : `${text}\nSee also:\n${listOf(longer)}\n`;
}

function helpOfGroup(program: CommandProgram, named: readonly string[], members: readonly Command[]): string {
  const sections = [...new Set(members.map(({ group }) => group))].map(
    (group) => `${group} commands:\n${listOf(members.filter((each) => each.group === group))}`,
  );
  const heading = named.length === 0 ? `${program.summary}\n\n` : '';
  const usage = `Usage:\n  ${spelled(program, named)} <command> [flags]`;
  const more = `--help after a command lists its flags.`;
  return `${heading}${usage}\n\n${sections.join('\n\n')}\n\n${more}\n`;
}

function listOf(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.join(' ').length));
  return commands.map(({ name, summary }) => `  ${name.join(' ').padEnd(width)}  ${summary}`).join('\n');
}
