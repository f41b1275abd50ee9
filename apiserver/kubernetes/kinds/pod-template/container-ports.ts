import type { Container, ContainerPort } from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
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
export function validateContainerPorts(
  ports: readonly ContainerPort[] | undefined,
  path: string,
): FieldError[] {
  const names = new Set<string>();
  return forEachItem(ports ?? [], path, (port, at) => [
    ...portName(port.name ?? '', `${at}.name`, names),
    ...containerPort(port.containerPort, `${at}.containerPort`),
    ...((port.hostPort ?? 0) === 0 ? [] : portNumber(port.hostPort, `${at}.hostPort`)),
    ...requiredChoice(port.protocol, `${at}.protocol`, PROTOCOLS),
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

function containerPort(given: number, path: string): FieldError[] {
  return given === 0 ? [required(path)] : portNumber(given, path);
}

/** Containers share the host's ports: no two of them may use the same one. */
export function hostPortConflicts(containers: readonly Container[], path: string): FieldError[] {
  const taken = new Set<string>();
  return eachPort(containers, path, (port, at) => {
    const { protocol = '', hostIP = '', hostPort = 0 } = port;
    if (hostPort === 0) return [];
    const key = `${protocol}/${hostIP}/${String(hostPort)}`;
    if (taken.has(key)) return [duplicate(`${at}.hostPort`, key)];
    taken.add(key);
    return [];
  });
}

/** In the host's network a container's port is the host's. Templates may leave it out. */
export function hostNetworkPorts(
  containers: readonly Container[],
  path: string,
  isPod: boolean,
): FieldError[] {
  const isNewer = isInForce('hostPortsOfTemplates');
  return eachPort(containers, path, (port, at) => {
    const { containerPort: own, hostPort = 0 } = port;
    if (hostPort === own || (isNewer && hostPort === 0 && !isPod)) return [];
    return isNewer
      ? [invalid(`${at}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
      : [invalid(`${at}.containerPort`, own, 'must match `hostPort` when `hostNetwork` is true')];
  });
}

function eachPort(
  containers: readonly Container[],
  path: string,
  rule: (port: ContainerPort, path: string) => readonly FieldError[],
): FieldError[] {
  return forEachItem(containers, path, (container, at) =>
    forEachItem(container.ports ?? [], `${at}.ports`, rule),
  );
}
