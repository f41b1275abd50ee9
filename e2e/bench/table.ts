/** The result of one part of the benchmark. */
export interface Table {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table. */
  readonly notes?: readonly string[];
}

export function printTable({ title, header, rows, notes = [] }: Table): void {
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  console.log(`\n### ${title}\n\n${lines.join('\n')}\n${notes.map((note) => `\n${note}\n`).join('')}`);
}

export function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`;
}

export function megabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}

export function microseconds(value: number): string {
  return value >= 1_000 ? milliseconds(value / 1_000) : `${value.toFixed(1)} µs`;
}

export function ratio(ours: number, limit: number): string {
  return `${(ours / limit).toFixed(2)} ×`;
}
