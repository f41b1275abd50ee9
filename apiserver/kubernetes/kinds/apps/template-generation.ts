import type { DaemonSet } from '../../../../shared/api/types/apps-v1';
import type { StatusError } from '../../../../shared/errors/status-error';
import { badRequest } from '../../../../shared/errors/status-error';
import { saysSame } from '../../../../shared/schema/same-meaning';
import { messageType } from '../../../../shared/schema/types';

/** An old field of DaemonSets, which counts changes of the template and lives on as an annotation. */
export const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** A new DaemonSet begins at 1, or where the client says. Throws BadRequest for what is no number. */
export function withFirstTemplateGeneration(daemonSet: DaemonSet): DaemonSet {
  const given = generationOf(daemonSet);
  return withGeneration(daemonSet, given > 1n ? given : 1n);
}

/**
 * A change keeps the count of the previous object, and another template adds 1 to it; what the client says counts for nothing, but has to be a
 * number. Throws BadRequest for what is none.
 */
export function withNextTemplateGeneration(next: DaemonSet, previous: DaemonSet): DaemonSet {
  generationOf(next);
  const isSame = saysSame(POD_TEMPLATE, next.spec.template, previous.spec.template);
  return withGeneration(next, generationOf(previous) + (isSame ? 0n : 1n));
}

const POD_TEMPLATE = messageType('core/v1.PodTemplateSpec');
const DIGITS_MAX = 19;

function generationOf(daemonSet: DaemonSet): bigint {
  const given = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION];
  if (given === undefined) return 0n;
  const [, sign = '', digits] = /^([+-]?)0*(\d+)$/.exec(given) ?? [];
  if (digits === undefined) throw unread(given, 'invalid syntax');
  const count = digits.length > DIGITS_MAX ? undefined : BigInt(`${sign === '-' ? '-' : ''}${digits}`);
  if (count === undefined || BigInt.asIntN(64, count) !== count) throw unread(given, 'value out of range');
  return count;
}

function unread(given: string, why: string): StatusError {
  const read = `strconv.ParseInt: parsing ${JSON.stringify(given)}: ${why}`;
  return badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${read}`);
}

function withGeneration(daemonSet: DaemonSet, generation: bigint): DaemonSet {
  const annotations = { ...daemonSet.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  return { ...daemonSet, metadata: { ...daemonSet.metadata, annotations } };
}
