import type { DaemonSet } from '../../../shared/api/types/apps-v1';
import { badRequest } from '../../../shared/errors/status-error';
import { deepEqual } from '../../../shared/object/clone';

/** An old field of DaemonSets, which counts changes of the template and lives on as an annotation. */
export const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** A new DaemonSet begins at 1, or where the client says. Throws BadRequest for what is no number. */
export function withFirstTemplateGeneration(daemonSet: DaemonSet): DaemonSet {
  return withGeneration(daemonSet, Math.max(1, generationOf(daemonSet)));
}

/** A change keeps the count of the previous object, and another template adds 1 to it. */
export function withNextTemplateGeneration(next: DaemonSet, previous: DaemonSet): DaemonSet {
  const isSame = deepEqual(next.spec.template, previous.spec.template);
  return withGeneration(next, generationOf(previous) + (isSame ? 0 : 1));
}

function generationOf(daemonSet: DaemonSet): number {
  const given = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION];
  if (given === undefined) return 0;
  if (!/^[+-]?\d+$/.test(given)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(given)}: invalid syntax`);
  }
  return Number.parseInt(given, 10);
}

function withGeneration(daemonSet: DaemonSet, generation: number): DaemonSet {
  const annotations = { ...daemonSet.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  return { ...daemonSet, metadata: { ...daemonSet.metadata, annotations } };
}
