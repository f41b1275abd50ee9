import { StatusError } from '../../../../shared/errors/status-error';
import { displayPath } from '../../../../shared/fieldset/path-element';
import type { Entry } from './entries';
import { compareText } from './entries';

/** A field that an apply would change and another manager owns. */
export interface Conflict {
  readonly entry: Entry;
  readonly path: readonly string[];
}

/** Maximum number of listed causes; the message has the total. */
const CONFLICT_CAUSES_MAX = 1_000;

/** The 409 of an apply, with one cause for each field that names the other manager. */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const listed = conflicts.slice(0, CONFLICT_CAUSES_MAX);
  return new StatusError('Conflict', messageOf(conflicts), {
    details: {
      causes: listed.map(({ entry, path }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${nameOf(entry)}`,
        field: displayPath(path),
      })),
    },
  });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [only] = conflicts;
  if (conflicts.length === 1 && only !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${nameOf(only.entry)}: ${displayPath(only.path)}`;
  }
  const byManager = new Map<string, string[]>();
  for (const { entry, path } of conflicts.slice(0, CONFLICT_CAUSES_MAX)) {
    const name = nameOf(entry);
    const paths = byManager.get(name) ?? [];
    byManager.set(name, paths);
    paths.push(`- ${displayPath(path)}`);
  }
  const lines = [...byManager]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([name, paths]) => [`conflicts with ${name}:`, ...paths]);
  return `Apply failed with ${String(conflicts.length)} conflicts: ${lines.join('\n')}`;
}

function nameOf({ manager, operation, apiVersion }: Entry): string {
  const name = JSON.stringify(manager);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
