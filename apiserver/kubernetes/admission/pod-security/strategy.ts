import type { Container, Pod, SecurityContext } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';

/** One container as a rule sees it. */
export interface SeenContainer {
  readonly pod: Pod;
  readonly container: Container;
  /** What holds for it: its own word, else the pod's. */
  readonly effective: SecurityContext;
  /** That of the container: `spec.containers[0]`. */
  readonly path: string;
}

/** What one part of a policy demands of a pod as a whole. */
export interface PodStrategy {
  /** Fills in what the pod leaves open; returns the pod itself where that is nothing. */
  readonly fill?: (pod: Pod) => Pod;
  readonly problems?: (pod: Pod) => readonly FieldError[];
}

/** What one part of a policy demands of each container. */
export interface ContainerStrategy {
  /** The fields of the security context that the container leaves open, and the pod for it. */
  readonly fill?: (effective: SecurityContext) => SecurityContext;
  readonly problems?: (seen: SeenContainer) => readonly FieldError[];
}

/** A part of a policy that demands nothing. */
export const ANYTHING: PodStrategy & ContainerStrategy = {};

/** What {@link ContainerStrategy.fill} returns when nothing is open. */
export const NOTHING: SecurityContext = {};
