/** One record of a CSV text (RFC 4180), and the number of the line it stands on, from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

export class CsvError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.name = 'CsvError';
    this.line = line;
  }
}

/**
 * Reads CSV: fields separated by commas, quoted where they hold commas or quotes (a quote inside is doubled). One record per line.
 * Blank lines and lines that begin with `#` are left out. Throws CsvError for broken quoting.
 */
export function parseCsv(text: string): readonly CsvRecord[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((content, index) => ({ content, line: index + 1 }))
    .filter(({ content }) => content.trim() !== '' && !content.trimStart().startsWith('#'))
    .map(({ content, line }) => ({ line, fields: parseFields(content, line) }));
}

const UNQUOTED = /[^,"]*(?=,|$)/y;
const QUOTED = /\s*"((?:[^"]|"")*)"\s*(?=,|$)/y;

function parseFields(content: string, line: number): string[] {
  const fields: string[] = [];
  for (let position = 0; position <= content.length;) {
    QUOTED.lastIndex = position;
    UNQUOTED.lastIndex = position;
    const quoted = QUOTED.exec(content);
    const match = quoted ?? UNQUOTED.exec(content);
    if (match === null) throw new CsvError(line, 'a quote opens or closes in the wrong place');
    fields.push(quoted === null ? match[0].trim() : (quoted[1] ?? '').replaceAll('""', '"'));
    position += match[0].length + 1;
  }
  return fields;
}
