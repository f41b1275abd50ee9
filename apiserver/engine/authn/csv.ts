import { parse } from 'csv-parse/sync';

/** One record of a CSV text (RFC 4180), with its line number from 1. */
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
 * Parses CSV with one record per line, so that an unclosed quote is reported with its line. Blank lines and lines that begin with `#` are
 * skipped. Throws CsvError for invalid quoting.
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

/** Parses a line into one record, or none. */
function recordsOf(content: string, line: number): readonly (readonly string[])[] {
  try {
    return parse(content, OPTIONS);
  } catch {
    // Drop the cause, which quotes the field and may contain a token.
    throw new CsvError(line, 'a quote opens or closes in the wrong place');
  }
}
