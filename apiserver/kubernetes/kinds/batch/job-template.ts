import { isInForce } from '../../../../shared/api/changes';
import type { Job } from '../../../../shared/api/types/batch-v1';
import type { Container, PodSpec, PodTemplateSpec } from '../../../../shared/api/types/core-v1';
import { defined } from '../../../../shared/defined';
import { isSemanticallyEqual } from '../../../../shared/schema/same-meaning';
import { messageType } from '../../../../shared/schema/types';
import type { KindSettings } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { hasCondition } from './job-status';

const POD_TEMPLATE = messageType('core/v1.PodTemplateSpec');
const POD_SPEC = messageType('core/v1.PodSpec');

/** A Job that is suspended and has no pods. */
function isAtRest(job: Job): boolean {
  const { startTime, active = 0 } = job.status ?? {};
  const hasStopped = startTime === undefined || hasCondition(job, 'Suspended');
  return job.spec.suspend === true && hasStopped && active === 0;
}

/** The resources of its pods may change. */
export function mayResize(previous: Job, settings: KindSettings): boolean {
  return isOn(settings, 'MutablePodResourcesForSuspendedJobs') && isAtRest(previous);
}

/** The nodes for its pods may change. */
function mayMove(previous: Job, settings: KindSettings): boolean {
  if (isOn(settings, 'MutableSchedulingDirectivesForSuspendedJobs')) return isAtRest(previous);
  const isNew = previous.spec.suspend === true && previous.status?.startTime === undefined;
  return isInForce('suspendedJobTemplates') && isNew;
}

/** Compares templates without what may change in a Job that rests. Source: validatePodTemplateUpdate, v1.36. */
export function isSameTemplate(next: PodTemplateSpec, previousJob: Job, settings: KindSettings): boolean {
  const { template: previous } = previousJob.spec;
  const moved = mayMove(previousJob, settings) ? withPlaces(previous, next) : previous;
  if (!mayResize(previousJob, settings)) return isSemanticallyEqual(POD_TEMPLATE, next, moved);
  return isSemanticallyEqual(POD_SPEC, next.spec, withResources(moved.spec, next.spec));
}

/** The template with the scheduling directives, labels and annotations of another. */
function withPlaces(template: PodTemplateSpec, { metadata, spec }: PodTemplateSpec): PodTemplateSpec {
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    ...rest
  } = template.spec;
  const { labels: _labels, annotations: _annotations, ...otherMetadata } = template.metadata;
  const { nodeSelector, tolerations, schedulingGates } = spec;
  const { affinity: _affinity, ...plain } = rest;
  const { nodeAffinity: _node, ...others } = rest.affinity ?? {};
  const nodeAffinity = spec.affinity?.nodeAffinity;
  const affinity = { ...others, ...defined({ nodeAffinity }) };
  const hasAffinity = Object.keys(affinity).length > 0 || spec.affinity !== undefined;
  return {
    ...template,
    metadata: {
      ...otherMetadata,
      ...defined({ labels: metadata.labels, annotations: metadata.annotations }),
    },
    spec: {
      ...plain,
      ...defined({ nodeSelector, tolerations, schedulingGates }),
      ...(hasAffinity ? { affinity } : {}),
    },
  };
}

/** The spec with the resources of the containers of another. */
function withResources(spec: PodSpec, { containers, initContainers }: PodSpec): PodSpec {
  const of = (old: readonly Container[], next: readonly Container[]): readonly Container[] =>
    old.length === next.length
      ? old.map((each, at) => {
          const other = next[at];
          return other?.name === each.name ? { ...each, resources: other.resources } : each;
        })
      : old;
  return {
    ...spec,
    containers: of(spec.containers ?? [], containers ?? []),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: of(spec.initContainers, initContainers ?? []) }),
  };
}
