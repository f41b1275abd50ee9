import type { FlagRow, FlagValues } from './flag-row';
import { fieldOf } from './flag-row';
import type { FlagValue } from './flag-value';
import { defaultValue, parseFlagValue } from './flag-value';
import type { ForeignFlag } from './foreign-flag';
import { decideForeignFlag } from './foreign-flag';
import { suggestion } from './suggestion';

/** The result of a command line: the values, a request for help, or all errors, one line each. */
export type ParsedFlags<Rows extends readonly FlagRow[]> =
  | {
      readonly outcome: 'values';
      readonly values: FlagValues<Rows>;
      /** The names of the flags that were on the command line. */
      readonly given: ReadonlySet<string>;
      /** Sentences to log at the start: flags that are deprecated, or have no effect. */
      readonly warnings: readonly string[];
    }
  | { readonly outcome: 'help' }
  | { readonly outcome: 'errors'; readonly errors: readonly string[] };

/**
 * Reads `argv` (without the program itself). Forms: `--name=value`, `--name value`, `--switch`, `--switch=false`, `-v 4`, `-v=4`,
 * `-v4`. A list may be repeated or hold commas; of any other flag the last value counts. `_` in a name is read as `-`. There are
 * no positional arguments. `foreign` are flags without a row that are known all the same.
 */
export function parseFlags<const Rows extends readonly FlagRow[]>(
  rows: Rows,
  argv: readonly string[],
  foreign: readonly ForeignFlag[] = [],
): ParsedFlags<Rows> {
  const reader = new FlagReader(rows, argv, foreign);
  reader.readAll();
  if (reader.helpWanted) return { outcome: 'help' };
  if (reader.errors.length > 0) return { outcome: 'errors', errors: reader.errors };
  const values = Object.fromEntries(
    rows.map((row) => [fieldOf(row), reader.values.get(row.name) ?? defaultValue(row)]),
  );
  return {
    outcome: 'values',
    values: values as FlagValues<Rows>,
    given: new Set(reader.values.keys()),
    warnings: [...reader.warnings],
  };
}

class FlagReader {
  readonly values = new Map<string, FlagValue>();
  readonly errors: string[] = [];
  readonly warnings = new Set<string>();
  helpWanted = false;
  #position = 0;
  readonly #rows: ReadonlyMap<string, FlagRow>;
  readonly #shorts: ReadonlyMap<string, FlagRow>;
  readonly #argv: readonly string[];
  readonly #foreign: ReadonlyMap<string, ForeignFlag>;

  constructor(rows: readonly FlagRow[], argv: readonly string[], foreign: readonly ForeignFlag[]) {
    this.#foreign = new Map(foreign.map((flag) => [flag.name, flag]));
    this.#rows = new Map(rows.map((row) => [row.name, row]));
    this.#shorts = new Map(
      rows.flatMap((row): [string, FlagRow][] => (row.short === undefined ? [] : [[row.short, row]])),
    );
    this.#argv = argv;
  }

  readAll(): void {
    while (this.#position < this.#argv.length) {
      const word = this.#argv[this.#position] ?? '';
      this.#position += 1;
      if (word === '--help' || word === '-h') this.helpWanted = true;
      else if (word.startsWith('--')) this.#readLong(word.slice(2));
      else if (word.startsWith('-') && word.length > 1) this.#readShort(word);
      else this.#refusePositional(word);
    }
  }

  #readLong(word: string): void {
    const equals = word.indexOf('=');
    const name = (equals < 0 ? word : word.slice(0, equals)).replaceAll('_', '-');
    const row = this.#rows.get(name);
    const foreign = this.#foreign.get(name);
    if (row === undefined && foreign !== undefined) {
      this.#decideForeign(
        foreign,
        equals < 0 ? this.#nextValue(foreign.isSwitch === true) : word.slice(equals + 1),
      );
      return;
    }
    if (row === undefined) {
      this.errors.push(
        `unknown flag: --${name}${suggestion(name, [...this.#rows.keys()]).replace('mean ', 'mean --')}`,
      );
      this.#skipLooseValue(equals);
      return;
    }
    this.#store(row, `--${name}`, equals < 0 ? this.#nextValue(row.type === 'bool') : word.slice(equals + 1));
  }

  #decideForeign(flag: ForeignFlag, text: string | undefined): void {
    const decision = decideForeignFlag(flag, text);
    if ('error' in decision) this.errors.push(decision.error);
    else this.warnings.add(decision.warning);
  }

  #readShort(word: string): void {
    const row = this.#shorts.get(word.charAt(1));
    const rest = word.slice(2);
    if (row === undefined) {
      const name = word.slice(1).split('=')[0] ?? '';
      const hint = this.#rows.has(name) ? `; did you mean --${name}?` : '';
      this.errors.push(`unknown flag: ${word}${hint}`);
      this.#skipLooseValue(word.indexOf('='));
      return;
    }
    const value = rest === '' ? this.#nextValue(row.type === 'bool') : rest.replace(/^=/, '');
    this.#store(row, `-${word.charAt(1)}`, value);
  }

  /** Returns the value after a flag without `=`. A switch takes none. */
  #nextValue(isSwitch: boolean): string | undefined {
    if (isSwitch) return 'true';
    const value = this.#argv[this.#position];
    this.#position += 1;
    return value;
  }

  #store(row: FlagRow, spelled: string, text: string | undefined): void {
    if (text === undefined) {
      this.errors.push(`${spelled} needs a value`);
      return;
    }
    const parsed = parseFlagValue(row, text, this.values.get(row.name));
    if ('problem' in parsed) this.errors.push(`invalid value "${text}" for ${spelled}: it ${parsed.problem}`);
    else this.values.set(row.name, parsed.value);
    if (row.deprecated !== undefined) this.warnings.add(`--${row.name} is deprecated: ${row.deprecated}`);
  }

  /** Keeps the value of an unknown flag from being reported a second time, as a positional argument. */
  #skipLooseValue(equals: number): void {
    const next = this.#argv[this.#position];
    if (equals < 0 && next !== undefined && !next.startsWith('-')) this.#position += 1;
  }

  #refusePositional(word: string): void {
    const before = (this.#argv[this.#position - 2] ?? '').replace(/^--/, '');
    const hint = this.#rows.get(before)?.type === 'bool' ? `; write --${before}=${word}` : '';
    this.errors.push(`unexpected argument "${word}"${hint}`);
  }
}
