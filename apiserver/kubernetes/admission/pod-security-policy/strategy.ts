import type { Container, Pod, SecurityContext } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';

/** One container as a rule sees it. */
export interface SeenContainer {
  readonly pod: Pod;
  readonly container: Container;
  /** The effective context: its own fields over the pod's. */
  readonly effective: SecurityContext;
  /** Path of the container: `spec.containers[0]`. */
  readonly path: string;
}

/** What one part of a policy requires of a pod. */
export interface PodStrategy {
  /** Applies defaults; returns the same pod without a change. */
  readonly fill?: (pod: Pod) => Pod;
  readonly problems?: (pod: Pod) => readonly FieldError[];
}

/** What one part of a policy requires of each container. */
export interface ContainerStrategy {
  /** Returns the defaults for fields that container and pod leave open. */
  readonly fill?: (effective: SecurityContext) => SecurityContext;
  readonly problems?: (seen: SeenContainer) => readonly FieldError[];
}

/** A part of a policy without requirements. */
export const ANYTHING: PodStrategy & ContainerStrategy = {};

/** What {@link ContainerStrategy.fill} returns without a default. */
export const NOTHING: SecurityContext = {};
