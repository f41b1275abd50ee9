import type { Container, ContainerPort, EnvVar, PodSpec } from '../../../../shared/api/types/core-v1';
import { goQuote } from '../../../../shared/errors/go-quote';
import { parseQuantity } from '../../../../shared/meta/quantity';

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;
/** Resources that are bytes. */
export const BYTE_RESOURCES = ['memory', 'ephemeral-storage'] as const;

/** Calls `rule` for each container of a spec at `path`, and returns all warnings. */
export function eachContainer(
  spec: PodSpec,
  path: string,
  rule: (container: Container, at: string) => readonly string[],
): readonly string[] {
  return LISTS.flatMap((list) =>
    (spec[list] ?? []).flatMap((container, index) => rule(container, `${path}.${list}[${String(index)}]`)),
  );
}

/** Returns the warnings about a container by itself. Source: warningsForPodSpecAndMeta, v1.36. */
export function containerWarnings({ resources, env = [] }: Container, path: string): readonly string[] {
  return [
    ...BYTE_RESOURCES.flatMap((name) => [
      ...wholeBytes(resources?.limits?.[name], `${path}.resources.limits[${name}]`),
      ...wholeBytes(resources?.requests?.[name], `${path}.resources.requests[${name}]`),
    ]),
    ...hiddenVariables(env, `${path}.env`),
  ];
}

/** Returns the warning about an amount of bytes that is not whole. */
export function wholeBytes(amount: string | undefined, path: string): readonly string[] {
  const quantity = amount === undefined ? undefined : parseQuantity(amount);
  if (amount === undefined || quantity === undefined || quantity.scale >= 0) return [];
  // Milli units are rounded up, as upstream does.
  const perMilli = quantity.scale < MILLI ? 10n ** BigInt(MILLI - quantity.scale) : 1n;
  const perUnit = 10n ** BigInt(-Math.max(quantity.scale, MILLI));
  const milli = (quantity.unscaled + perMilli - 1n) / perMilli;
  if (milli % perUnit === 0n) return [];
  return [`${path}: fractional byte value ${goQuote(amount)} is invalid, must be an integer`];
}

const MILLI = -3;

/** A later variable of the same name replaces an earlier one, unless its value includes it. */
function hiddenVariables(env: readonly EnvVar[], path: string): readonly string[] {
  const names = new Set<string>();
  return env.flatMap(({ name, value = '', valueFrom }, index) => {
    if (!names.has(name)) {
      names.add(name);
      return [];
    }
    const reference = `$(${name})`;
    if (valueFrom === undefined && value !== reference && value.includes(reference)) return [];
    return [
      `${path}[${String(index)}]: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`,
    ];
  });
}

interface PlacedPort {
  readonly at: string;
  readonly port: ContainerPort;
}

/** Warnings about ports of one pod. Beyond that many the pod is wrong enough. */
const PORT_WARNINGS_MAX = 1_000;
/** Ports of one number that are compared with each further one. A large pod has thousands of them, which all differ in their host ports. */
const COMPARED_PORTS_MAX = 100;

/** Returns the warnings about ports of all containers that are hard to distinguish. */
export function portWarnings(spec: PodSpec, path: string): readonly string[] {
  const byPort = new Map<string, PlacedPort[]>();
  const byName = new Map<string, string>();
  const warnings: string[] = [];
  const names: string[] = [];
  for (const list of LISTS) {
    for (const [index, { ports = [] }] of (spec[list] ?? []).entries()) {
      for (const [place, port] of ports.entries()) {
        if (warnings.length > PORT_WARNINGS_MAX) return warnings;
        const at = `${path}.${list}[${String(index)}].ports[${String(place)}]`;
        const { hostIP = '', hostPort = 0, containerPort, protocol = '', name = '' } = port;
        if (hostIP !== '' && hostPort === 0) {
          const text = `{Name:${name} HostPort:0 ContainerPort:${String(containerPort)} Protocol:${protocol} HostIP:${hostIP}}`;
          warnings.push(`${at}: hostIP set without hostPort: ${text}`);
        }
        const key = `${String(containerPort)}/${protocol}`;
        const others = byPort.get(key) ?? [];
        for (const other of others) warnings.push(...comparedPorts(at, port, other));
        if (others.length < COMPARED_PORTS_MAX) others.push({ at, port });
        byPort.set(key, others);
        if (name === '') continue;
        const first = byName.get(name);
        if (first === undefined) byName.set(name, at);
        else {
          names.push(
            `${at}: duplicate port name ${goQuote(name)} with ${first}, services and probes that select ports by name will use ${first}`,
          );
        }
      }
    }
  }
  return [...warnings, ...names];
}

function comparedPorts(at: string, port: ContainerPort, other: PlacedPort): readonly string[] {
  const { hostIP = '', hostPort = 0 } = port;
  const { hostIP: otherIp = '', hostPort: otherPort = 0 } = other.port;
  if (hostIP === otherIp && hostPort === otherPort) {
    return [`${at}: duplicate port definition with ${other.at}`];
  }
  if (hostPort === 0 || otherPort === 0) return [`${at}: overlapping port definition with ${other.at}`];
  return hostPort === otherPort && (hostIP === '') !== (otherIp === '')
    ? [`${at}: dangerously ambiguous port definition with ${other.at}`]
    : [];
}
