/**
 * A command line as data: one row per flag. The parser, the help text and the type of the result are all derived from the rows,
 * so that a flag is described once. Names are kebab-case, without dashes in front.
 */
interface CommonRow {
  readonly name: string;
  /** A one-letter alias: `-v 4`, `-v=4`, `-v4`. */
  readonly short?: string;
  /** The heading under which `--help` shows the flag. */
  readonly group: string;
  /** Sentences for `--help`. */
  readonly help: string;
  /** For a flag that works and will not for ever: what to give instead, as half a sentence. */
  readonly deprecated?: string;
}

export interface StringRow extends CommonRow {
  readonly type: 'string';
  readonly default: string;
}

export interface IntRow extends CommonRow {
  readonly type: 'int';
  readonly default: number;
  /** The unit of the number, which becomes the suffix of the field: `Seconds`, `Mb`. */
  readonly unit?: string;
  /** The smallest and the largest value allowed, inclusive. */
  readonly min?: number;
  readonly max?: number;
}

export interface BoolRow extends CommonRow {
  readonly type: 'bool';
  readonly default: boolean;
}

/** Written as Go writes durations (`1m30s`, `300ms`); milliseconds after parsing, and the field's name ends in `Ms`. */
export interface DurationRow extends CommonRow {
  readonly type: 'duration';
  readonly default: string;
}

/** May be given several times; every value may hold several, separated by commas. */
export interface StringListRow extends CommonRow {
  readonly type: 'stringList';
  readonly default: readonly string[];
  /** The only values allowed; absent means any. */
  readonly values?: readonly string[];
}

/** May be given several times; every value is one, commas and all. */
export interface StringArrayRow extends CommonRow {
  readonly type: 'stringArray';
  readonly default: readonly string[];
}

export interface EnumRow extends CommonRow {
  readonly type: 'enum';
  readonly default: string;
  readonly values: readonly string[];
}

export type FlagRow = StringRow | IntRow | BoolRow | DurationRow | StringListRow | StringArrayRow | EnumRow;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type FieldOf<Row extends FlagRow> = Row extends { readonly type: 'duration' }
  ? `${CamelCase<Row['name']>}Ms`
  : Row extends { readonly type: 'int'; readonly unit: infer Unit extends string }
    ? `${CamelCase<Row['name']>}${Unit}`
    : CamelCase<Row['name']>;

type ValueOf<Row extends FlagRow> = Row extends { readonly type: 'int' | 'duration' }
  ? number
  : Row extends { readonly type: 'bool' }
    ? boolean
    : Row extends { readonly type: 'stringList'; readonly values: readonly (infer Value)[] }
      ? readonly Value[]
      : Row extends { readonly type: 'stringList' | 'stringArray' }
        ? readonly string[]
        : Row extends { readonly type: 'enum'; readonly values: readonly (infer Value)[] }
          ? Value
          : string;

/** The parsed flags: `request-timeout` of type duration becomes `requestTimeoutMs`, a number of milliseconds. */
export type FlagValues<Rows extends readonly FlagRow[]> = {
  readonly [Row in Rows[number] as FieldOf<Row>]: ValueOf<Row>;
};

/** The field of the result that holds a row's value. */
export function fieldOf(row: FlagRow): string {
  const camel = row.name.replaceAll(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
  if (row.type === 'duration') return `${camel}Ms`;
  return row.type === 'int' ? camel + (row.unit ?? '') : camel;
}
