const CELL_WIDTH_MIN = 8;

/** Formats rows of equal length as aligned text with commas, as kube-apiserver's debug pages do. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const marked = rows.map((row) =>
    row.map((cell, at) => (at < row.length - 1 ? `${printable(cell)},` : printable(cell))),
  );
  const widths = (marked[0] ?? []).map((_head, at) =>
    marked.reduce((width, row) => Math.max(width, (row[at] ?? '').length + 1), CELL_WIDTH_MIN),
  );
  const lines = marked.map((row) =>
    row.map((cell, at) => (at < row.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell)).join(''),
  );
  return `${lines.join('\n')}\n`;
}

/** Replaces control characters, so that names and paths of clients cannot forge a row. */
function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters that would break a line
  return text.replaceAll(/[\u0000-\u001f\u007f]/g, ' ');
}
