import { badRequest } from '../../../shared/errors/status-error';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { record } from '../../../shared/object/accessors';

/** An old field of DaemonSets, which counts changes of the template and lives on as an annotation. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** A new DaemonSet begins at 1, or where the client says. Throws BadRequest for what is no number. */
export function withFirstTemplateGeneration(object: ApiObject): ApiObject {
  return withGeneration(object, Math.max(1, generationOf(object)));
}

/** A change keeps the count of the previous object, and another template adds 1 to it. */
export function withNextTemplateGeneration(next: ApiObject, previous: ApiObject): ApiObject {
  const isSame = deepEqual(record(next['spec'])['template'], record(previous['spec'])['template']);
  return withGeneration(next, generationOf(previous) + (isSame ? 0 : 1));
}

function generationOf(object: ApiObject): number {
  const given = object.metadata.annotations?.[TEMPLATE_GENERATION];
  if (given === undefined) return 0;
  if (!/^[+-]?\d+$/.test(given)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(given)}: invalid syntax`);
  }
  return Number.parseInt(given, 10);
}

function withGeneration(object: ApiObject, generation: number): ApiObject {
  const annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
