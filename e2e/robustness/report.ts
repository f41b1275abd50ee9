import type { EpochReport } from './epoch';
import type { RunReport } from './run';

/** Formats the statistics and violations of a run as text. */
export function describeRun({ epochs, findings, replaced }: RunReport): string {
  const operations = epochs.flatMap(({ record }) => record.objects);
  const faults = sums(epochs.map((each) => each.faults));
  const lines = [
    `epochs: ${String(epochs.length)}; the store was replaced: ${counts(replaced)}`,
    `requests about one object: ${counts(sums(epochs.map(({ load }) => load.outcomes)))}`,
    `writes acknowledged: ${counts(byVerb(epochs))}`,
    `lists: ${counts(sums(epochs.map(({ load }) => load.lists)))}`,
    `changes in the store: ${String(total(epochs, ({ history }) => history.changes.length))}`,
    `events of watches: ${String(total(epochs, eventsOfWatches))} in ${String(total(epochs, ({ record }) => record.watches.length))} connections; of informers: ${String(total(epochs, ({ informerEvents }) => informerEvents))}`,
    `addresses, and places below the quota: ${counts(sums(epochs.map(({ load: { allocations } }) => ({ ...allocations }))))}`,
    `terms of leaders: ${String(total(epochs, ({ record }) => record.leaders.filter(({ kind }) => kind === 'elected').length))}, their writes: ${String(total(epochs, ({ record }) => record.leaders.filter(({ kind }) => kind === 'write').length))}`,
    `faults: ${counts(faults)}`,
    `objects whose answers were put in order: ${String(new Set(operations.map(({ key }) => key)).size)}, ${String(operations.length)} answers`,
    `violations: ${String(findings.length)}`,
    ...findings.slice(0, FINDINGS_SHOWN).map(({ check, text }) => `  [${check}] ${text}`),
    ...(findings.length > FINDINGS_SHOWN ? [`  and ${String(findings.length - FINDINGS_SHOWN)} more`] : []),
  ];
  return lines.join('\n');
}

const FINDINGS_SHOWN = 40;

export function describeEpoch({ record, findings, history }: EpochReport): string {
  const answers = record.objects.length + record.lists.length + record.ages.length;
  return `${String(history.changes.length)} changes, ${String(answers)} answers, ${String(record.watches.length)} watches: ${String(findings.length)} violations`;
}

function byVerb(epochs: readonly EpochReport[]): Readonly<Record<string, number>> {
  const all: Record<string, number> = {};
  for (const { verb, outcome } of epochs.flatMap(({ record }) => record.objects)) {
    if (outcome === 'done' && verb !== 'get') all[verb] = (all[verb] ?? 0) + 1;
  }
  return all;
}

function eventsOfWatches({ record }: EpochReport): number {
  return record.watches.reduce((sum, { events, initial = [] }) => sum + events.length + initial.length, 0);
}

function total(epochs: readonly EpochReport[], value: (epoch: EpochReport) => number): number {
  return epochs.reduce((sum, epoch) => sum + value(epoch), 0);
}

function sums(all: readonly Readonly<Partial<Record<string, number>>>[]): Readonly<Record<string, number>> {
  const result: Record<string, number> = {};
  for (const each of all) {
    for (const [key, value = 0] of Object.entries(each)) result[key] = (result[key] ?? 0) + value;
  }
  return result;
}

function counts(numbers: Readonly<Record<string, number>>): string {
  const rows = Object.entries(numbers).map(([what, count]) => `${String(count)} ${what}`);
  return rows.length === 0 ? 'none' : rows.join(', ');
}
