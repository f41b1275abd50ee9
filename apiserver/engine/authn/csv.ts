import { parse } from 'csv-parse/sync';

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
 * Reads CSV: fields separated by commas, quoted where they hold commas or quotes (a quote inside is doubled). One record per line, so that
 * a quote that is never closed is told with its line. Blank lines and lines that begin with `#` are left out. Throws CsvError for broken
 * quoting.
 */
export function parseCsv(text: string): readonly CsvRecord[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((content, index) => {
      const line = index + 1;
      return recordsOf(content, line).map((fields) => ({ line, fields }));
    });
}

const OPTIONS = {
  record_delimiter: '\n',
  comment: '#',
  comment_no_infix: true,
  skip_empty_lines: true,
  trim: true,
} as const;

/** One record, or none. */
function recordsOf(content: string, line: number): readonly (readonly string[])[] {
  try {
    return parse(content, OPTIONS);
  } catch {
    // What was thrown quotes the field, which may be a token.
    throw new CsvError(line, 'a quote opens or closes in the wrong place');
  }
}
