import type {
  Container,
  EphemeralContainer,
  PodSpec,
  SecurityContext,
} from '../../../../shared/api/types/core-v1';

/** What a check looks at: a pod, or a template of pods. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** Why a pod is outside of a standard. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** Returns the violation of one rule, or undefined. */
export type Check = (pod: CheckedPod) => Violation | undefined;

export type AnyContainer = Container | EphemeralContainer;

/** All containers in the order in which violations name them. */
export function containersOf({ spec }: CheckedPod): readonly AnyContainer[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

export function namesOf(pod: CheckedPod, isBad: (container: AnyContainer) => boolean): readonly string[] {
  return containersOf(pod)
    .filter(isBad)
    .map(({ name }) => name);
}

export const containers = (names: readonly string[]): string =>
  `${pluralOf('container', names.length)} ${joinQuoted(names)}`;

/** Builds a check of a value that the pod and its containers may set. `badOf` returns what is forbidden in it. */
export function valueCheck<T>(
  valueOf: (security: SecurityContext) => T | undefined,
  badOf: (value: T) => readonly string[],
): (pod: CheckedPod) => { readonly setters: string; readonly bad: readonly string[] } | undefined {
  return (pod) => {
    const bad: string[] = [];
    const isBad = (security: unknown): boolean => {
      const value = security === undefined ? undefined : valueOf(security as SecurityContext);
      const found = value === undefined ? [] : badOf(value);
      bad.push(...found);
      return found.length > 0;
    };
    const ofPod = isBad(pod.spec.securityContext);
    const names = namesOf(pod, ({ securityContext }) => isBad(securityContext));
    if (!ofPod && names.length === 0) return undefined;
    return { setters: setBy(ofPod, names), bad };
  };
}

/** Returns `"a", "b"`. */
export function joinQuoted(texts: readonly string[]): string {
  return `"${texts.join('", "')}"`;
}

/** Returns `container` or `containers`. */
export function pluralOf(noun: string, count: number): string {
  return count === 1 ? noun : `${noun}s`;
}

/** Returns the distinct texts in ascending order. */
export function sortedSet(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

function setBy(ofPod: boolean, names: readonly string[]): string {
  return [...(ofPod ? ['pod'] : []), ...(names.length === 0 ? [] : [containers(names)])].join(' and ');
}
