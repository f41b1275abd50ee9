import type { JournalReport } from './journal';
import { RevisionSet } from './revision-set';
import type { Truth } from './truth';
import { VIEWS } from './views';

const SHOWN = 5;

/** The faults of an informer as text; further lists are no fault by themselves. */
export function informerFaults(report: JournalReport, truth: Truth): readonly string[] {
  const view = VIEWS.find((each) => each.id === report.view);
  if (view === undefined) throw new Error(`no such view: ${report.view}`);
  const { revisions, objects: stored } = truth.view(view);
  const seen = RevisionSet.from(revisions.base, report.seen);
  const wasListed = (version: number): boolean =>
    report.relists.some(({ from, to }) => from < version && version <= to);
  const missing = [...revisions.members()].filter((each) => !seen.has(each) && !wasListed(each));
  const invented = [...seen.members()].filter((each) => !revisions.has(each));
  const held = new Map(report.objects.map(({ key, version }) => [key, version]));
  const different = [...new Set([...held.keys(), ...stored.keys()])].filter(
    (key) => held.get(key) !== stored.get(key),
  );
  const who = `${report.informer}, ${report.view}`;
  return [
    ...report.complaints.map((text) => `${who}: ${text}`),
    ...some(missing, (list) => `${who}: ${list} never delivered`),
    ...some(invented, (list) => `${who}: ${list} delivered, but not in etcd's history`),
    ...some(different, (list) => `${who}: holds another state of ${list}`),
  ];
}

/** Our informers resume where history was kept; only there another list is a fault. */
export function ownRelists({ informer, view, relists }: JournalReport): readonly string[] {
  if (!informer.startsWith('own') || relists.length === 0) return [];
  return [`${informer}, ${view}: listed again ${String(relists.length)} times`];
}

function some(items: readonly (string | number)[], sentence: (list: string) => string): readonly string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, SHOWN).join(', ');
  return [sentence(items.length > SHOWN ? `${shown} and ${String(items.length - SHOWN)} more` : shown)];
}
