import { defined } from '../../../../shared/defined';
import type { Pod, PodSpec } from '../../../../shared/api/types/core-v1';
import type { PriorityClass } from '../../../../shared/api/types/scheduling-v1';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { anyOf, isWriteOf, pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS, PRIORITY_CLASSES } from '../../cluster/resources';
import { withSpec } from './with-spec';

interface Resolved {
  /** Empty without a class. */
  readonly className: string;
  readonly priority: number;
  readonly preemptionPolicy: string | undefined;
}

const WITHOUT_CLASS: Resolved = { className: '', priority: 0, preemptionPolicy: 'PreemptLowerPriority' };

/**
 * Sets the priority of a pod from its class or the default class, and allows one default class. With `hasPolicy` it also sets and checks
 * the preemption policy.
 */
export const priority = (hasPolicy: boolean): AdmissionPlugin =>
  pluginOf(anyOf(writesOf(PODS, ['CREATE', 'UPDATE']), writesOf(PRIORITY_CLASSES, ['CREATE', 'UPDATE'])), {
    mutate(attributes, cluster) {
      if (!isWriteOf(PODS, attributes)) return attributes.object;
      const { object, oldObject, operation } = attributes;
      if (object === undefined) return object;
      return operation === 'CREATE'
        ? resolved(attributes, object, { cluster, hasPolicy })
        : kept(object, oldObject);
    },
    async validate(attributes, cluster, signal) {
      if (!isWriteOf(PRIORITY_CLASSES, attributes) || attributes.object?.globalDefault !== true) return;
      // Such writes are rare, and a second default class would persist.
      await cluster.freshen(signal);
      checkOnlyDefault(attributes, attributes.object, cluster);
    },
  });

/** Returns the end of a refusal of a value that differs from the class's. */
function computed(value: string | number): string {
  return `priority admission controller computed ${String(value)} from the given PriorityClass name`;
}

function resolved(
  attributes: AdmissionAttributes,
  pod: Pod,
  { cluster, hasPolicy }: { readonly cluster: ClusterReader; readonly hasPolicy: boolean },
): Pod {
  const { priorityClassName: className = '', priority: asked, preemptionPolicy: policy } = pod.spec;
  const found = className === '' ? defaultOf(cluster) : classNamed(attributes, className, cluster);
  if (asked !== undefined && asked !== found.priority) {
    const why = `the integer value of priority (${String(asked)}) must not be provided in pod spec`;
    throw refusal(attributes, `${why}; ${computed(found.priority)}`);
  }
  const preemptionPolicy = hasPolicy ? found.preemptionPolicy : undefined;
  if (policy !== undefined && preemptionPolicy !== undefined && policy !== preemptionPolicy) {
    const why = `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec`;
    throw refusal(attributes, `${why}; ${computed(preemptionPolicy)}`);
  }
  return withSpec(pod, {
    ...(found.className === '' ? {} : { priorityClassName: found.className }),
    priority: found.priority,
    ...defined({ preemptionPolicy }),
  });
}

function classNamed(attributes: AdmissionAttributes, name: string, cluster: ClusterReader): Resolved {
  const found = cluster.get(PRIORITY_CLASSES, name);
  if (found === undefined) throw refusal(attributes, `no PriorityClass with name ${name} was found`);
  return resolvedBy(found);
}

function defaultOf(cluster: ClusterReader): Resolved {
  const found = defaultClass(cluster);
  return found === undefined ? WITHOUT_CLASS : resolvedBy(found);
}

function resolvedBy({ metadata, value, preemptionPolicy }: PriorityClass): Resolved {
  return { className: metadata.name ?? '', priority: value, preemptionPolicy };
}

/** Several defaults may arise by a race; the lowest priority wins. */
function defaultClass(cluster: ClusterReader): PriorityClass | undefined {
  return cluster
    .list(PRIORITY_CLASSES)
    .filter((each) => each.globalDefault === true)
    .reduce<PriorityClass | undefined>(
      (lowest, each) => (lowest !== undefined && lowest.value <= each.value ? lowest : each),
      undefined,
    );
}

const KEPT = ['priority', 'preemptionPolicy'] as const;

/** Fields that older clients omit in an update are kept; validation refuses other changes. */
function kept(pod: Pod, previous: Pod | undefined): Pod {
  const before = previous?.spec;
  const missing = KEPT.filter((field) => pod.spec[field] === undefined && before?.[field] !== undefined);
  if (missing.length === 0) return pod;
  return withSpec(
    pod,
    Object.fromEntries(missing.map((field) => [field, before?.[field]])) as Partial<PodSpec>,
  );
}

function checkOnlyDefault(
  attributes: AdmissionAttributes,
  { metadata }: PriorityClass,
  cluster: ClusterReader,
): void {
  const name = defaultClass(cluster)?.metadata.name;
  if (name === undefined || (attributes.operation === 'UPDATE' && name === metadata.name)) return;
  throw refusal(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`);
}
