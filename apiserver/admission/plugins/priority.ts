import { defined } from '../../../shared/defined';
import type { ApiObject } from '../../../shared/object/object';
import type { AdmissionAttributes } from '../../registry/admission';
import { integer, optionalText, text } from '../../../shared/object/accessors';
import type { ClusterReader } from '../cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { anyOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS, PRIORITY_CLASSES } from './resources';
import { specOf, withSpec } from './with-spec';

interface Resolved {
  /** Empty where there is no class. */
  readonly className: string;
  readonly priority: number;
  readonly preemptionPolicy: string | undefined;
}

const WITHOUT_CLASS: Resolved = { className: '', priority: 0, preemptionPolicy: 'PreemptLowerPriority' };

/** A pod gets the priority of its class, or that of the default class; there is at most one default class. */
export const priority: AdmissionPlugin = {
  concerns: anyOf(writesOf(PODS, ['CREATE', 'UPDATE']), writesOf(PRIORITY_CLASSES, ['CREATE', 'UPDATE'])),
  mutate(attributes, cluster) {
    const { object, oldObject, operation } = attributes;
    const { endpoint } = attributes.write;
    if (object === undefined || endpoint.row.resource !== PODS.resource) return object;
    return operation === 'CREATE' ? resolved(attributes, object, cluster) : kept(object, oldObject);
  },
  async validate(attributes, cluster, signal) {
    const { object } = attributes;
    const { endpoint } = attributes.write;
    if (endpoint.row.resource !== PRIORITY_CLASSES.resource || object?.['globalDefault'] !== true) return;
    // Such writes are rare, and a second default let through by mistake would stay.
    await cluster.freshen(signal);
    checkOnlyDefault(attributes, object, cluster);
  },
};

/** The end of a refusal of what the class says already, and says otherwise. */
function computed(value: string | number): string {
  return `priority admission controller computed ${String(value)} from the given PriorityClass name`;
}

function resolved(attributes: AdmissionAttributes, pod: ApiObject, cluster: ClusterReader): ApiObject {
  const spec = specOf(pod);
  const className = text(spec['priorityClassName']);
  const found = className === '' ? defaultOf(cluster) : classNamed(attributes, className, cluster);
  const asked = integer(spec['priority']);
  if (asked !== undefined && asked !== found.priority) {
    const why = `the integer value of priority (${String(asked)}) must not be provided in pod spec`;
    throw refusal(attributes, `${why}; ${computed(found.priority)}`);
  }
  const policy = optionalText(spec['preemptionPolicy']);
  const { preemptionPolicy } = found;
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

function resolvedBy(priorityClass: ApiObject): Resolved {
  return {
    className: priorityClass.metadata.name ?? '',
    priority: valueOf(priorityClass),
    preemptionPolicy: optionalText(priorityClass['preemptionPolicy']),
  };
}

/** If a race has made several, the one with the lowest priority. */
function defaultClass(cluster: ClusterReader): ApiObject | undefined {
  return cluster
    .list(PRIORITY_CLASSES)
    .filter((each) => each['globalDefault'] === true)
    .reduce<ApiObject | undefined>(
      (lowest, each) => (lowest !== undefined && valueOf(lowest) <= valueOf(each) ? lowest : each),
      undefined,
    );
}

function valueOf(priorityClass: ApiObject): number {
  return integer(priorityClass['value']) ?? 0;
}

/** What older clients leave out of an update stays; any other change of it is refused by validation. */
function kept(pod: ApiObject, previous: ApiObject | undefined): ApiObject {
  const spec = specOf(pod);
  const before = specOf(previous);
  const missing = ['priority', 'preemptionPolicy'].filter(
    (field) => spec[field] === undefined && before[field] !== undefined,
  );
  if (missing.length === 0) return pod;
  return withSpec(pod, Object.fromEntries(missing.map((field) => [field, before[field]])));
}

function checkOnlyDefault(
  attributes: AdmissionAttributes,
  { metadata }: ApiObject,
  cluster: ClusterReader,
): void {
  const name = defaultClass(cluster)?.metadata.name;
  if (name === undefined || (attributes.operation === 'UPDATE' && name === metadata.name)) return;
  throw refusal(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`);
}
