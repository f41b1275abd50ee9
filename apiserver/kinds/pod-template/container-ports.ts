import type { FieldError } from '../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../shared/errors/field-error';
import type { Json } from '../../../shared/object/accessors';
import { integer, records, text } from '../../../shared/object/accessors';
import {
  forEachItem,
  invalidForEach,
  portNameProblems,
  portNumber,
  requiredChoice,
} from '../rules/primitives';

/** What may be carried over a port. */
export const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** The `ports` of one container. */
export function validateContainerPorts(value: unknown, path: string): FieldError[] {
  const names = new Set<string>();
  return forEachItem(records(value), path, (port, at) => [
    ...portName(text(port['name']), `${at}.name`, names),
    ...containerPort(port, `${at}.containerPort`),
    ...((integer(port['hostPort']) ?? 0) === 0 ? [] : portNumber(port['hostPort'], `${at}.hostPort`)),
    ...requiredChoice(port['protocol'], `${at}.protocol`, PROTOCOLS),
  ]);
}

function portName(name: string, path: string, taken: Set<string>): FieldError[] {
  if (name === '') return [];
  const problems = invalidForEach(portNameProblems(name), name, path);
  if (problems.length > 0) return problems;
  if (taken.has(name)) return [duplicate(path, name)];
  taken.add(name);
  return [];
}

function containerPort(port: Json, path: string): FieldError[] {
  const given = port['containerPort'];
  return (integer(given) ?? 0) === 0 ? [required(path)] : portNumber(given, path);
}

/** Containers share the host's ports: no two of them may ask for the same one. */
export function hostPortConflicts(containers: readonly Json[], path: string): FieldError[] {
  const taken = new Set<string>();
  return eachPort(containers, path, (port, at) => {
    const hostPort = integer(port['hostPort']) ?? 0;
    if (hostPort === 0) return [];
    const key = `${text(port['protocol'])}/${text(port['hostIP'])}/${String(hostPort)}`;
    if (taken.has(key)) return [duplicate(`${at}.hostPort`, key)];
    taken.add(key);
    return [];
  });
}

/** In the host's network a container's port is the host's. */
export function hostNetworkPorts(containers: readonly Json[], path: string): FieldError[] {
  return eachPort(containers, path, (port, at) => {
    const own = integer(port['containerPort']) ?? 0;
    if ((integer(port['hostPort']) ?? 0) === own) return [];
    return [invalid(`${at}.containerPort`, own, 'must match `hostPort` when `hostNetwork` is true')];
  });
}

function eachPort(
  containers: readonly Json[],
  path: string,
  rule: (port: Json, path: string) => readonly FieldError[],
): FieldError[] {
  return forEachItem(containers, path, (container, at) =>
    forEachItem(records(container['ports']), `${at}.ports`, rule),
  );
}
