import type { Namespace, Pod, PodSpec } from '../../../../shared/api/types/core-v1';
import { packageOf } from '../../../../shared/api/resources';
import { invalidObject } from '../../../../shared/errors/field-error';
import { POD_SECURITY_PREFIX } from '../../../../shared/names';
import { deepEqual, isJsonObject } from '../../../../shared/object/clone';
import { fieldsOf } from '../../../../shared/object/accessors';
import { Slices } from '../../../../shared/concurrency/slices';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { ApiObject, ObjectMeta } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader } from '../../cluster/cluster-reader';
import { NAMESPACES, PODS } from '../../cluster/resources';
import { POD_PLACES } from '../../kinds/pod-template/pod-places';
import type { AdmissionPlugin, Subject } from '../plugin';
import { isWriteOf } from '../plugin';
import { refusal } from '../refusal';
import type { CheckedPod, Violation } from './checked-pod';
import type { PodSecurityConfiguration } from './configuration';
import { podSecurityConfiguration } from './configuration';
import type { Policy, Standard } from './policy';
import type { PodSecurityMetrics } from './pod-security-metrics';
import { chosenIn, formatStandard, isStricter, policyOf, PRIVILEGED } from './policy';
import { detailsOf, reasonsOf, violationsOf } from './standards';

/** Subresources of pods that do not change the specification. */
const IGNORED_SUBRESOURCES: ReadonlySet<string> = new Set([
  'attach',
  'binding',
  'eviction',
  'exec',
  'log',
  'portforward',
  'proxy',
  'status',
]);

/** The most pods of a namespace that are looked at when its standard becomes stricter, and the longest look, in milliseconds, as upstream. */
const PODS_CHECKED_MAX = 3_000;
const LOOK_MS_MAX = 1_000;

/**
 * Pod Security: pods must fulfil the standard that the labels of their namespace enforce, and are audited and warned about by others;
 * templates of pods are audited and warned about. Wrong labels of namespaces are refused, and a stricter label warns about the pods that
 * are there. Throws an Error for an invalid configuration. Source: k8s.io/pod-security-admission.
 */
export function podSecurity(configuration: unknown, metrics: PodSecurityMetrics): AdmissionPlugin {
  const settings = podSecurityConfiguration(configuration);
  return {
    concerns: isConcerned,
    validate: (attributes, cluster, signal) =>
      isWriteOf(NAMESPACES, attributes)
        ? admitNamespace(attributes, { cluster, settings, signal })
        : admitPod(attributes, { cluster, settings, metrics }),
  };
}

function isConcerned({ operation, group, resource, subresource }: Subject): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
  if (group === PODS.group && resource === PODS.resource) return !IGNORED_SUBRESOURCES.has(subresource);
  if (subresource !== '') return false;
  return (
    (group === NAMESPACES.group && resource === NAMESPACES.resource) || placeOf(group, resource) !== undefined
  );
}

function placeOf(group: string, resource: string): readonly string[] | undefined {
  const name = packageOf({ group, version: '' }).replace(/\/$/, '');
  return POD_PLACES.get(`${name}/${resource}`);
}

function admitNamespace(
  { object, oldObject, write }: AdmissionAttributes,
  { cluster, settings, signal }: Look,
): Promise<void> | void {
  if (object === undefined) return;
  const { defaults, exemptNamespaces } = settings;
  const { name = '', labels = {} } = object.metadata;
  const { policy, errors } = policyOf(labels, defaults);
  const before = oldObject === undefined ? undefined : policyOf(oldObject.metadata.labels ?? {}, defaults);
  // Labels that were wrong before do not prevent other updates.
  if (errors.length > 0 && !deepEqual(errors, before?.errors)) {
    throw invalidObject(write.endpoint.row, name, errors);
  }
  if (before !== undefined && !isTightened(policy.enforce, before.policy.enforce)) return;
  if (exemptNamespaces.has(name)) {
    const ignored = chosenIn(labels, policy);
    if (ignored !== '' && !deepEqual(policy, defaults)) {
      write.warn?.(
        `namespace ${goQuote(name)} is exempt from Pod Security, and the policy (${ignored}) will be ignored`,
      );
    }
    return;
  }
  // A new namespace has no pods.
  if (before === undefined) return;
  return warnAbout(name, policy.enforce, { cluster, settings, signal, warn: write.warn });
}

/** What a look at the pods of a namespace needs. */
interface Look {
  readonly cluster: ClusterReader;
  readonly settings: PodSecurityConfiguration;
  readonly signal: AbortSignal;
}

function isTightened(next: Standard, before: Standard): boolean {
  if (next.level === 'privileged' || deepEqual(next, before)) return false;
  return next.version !== before.version || isStricter(next.level, before.level);
}

/** Warns once for each set of violations, with the first pod that has it. In slices, as the pods have to be parsed. */
async function warnAbout(
  namespace: string,
  enforce: Standard,
  { cluster, settings, signal, warn }: Look & { readonly warn: ((text: string) => void) | undefined },
): Promise<void> {
  const names = cluster.names(PODS, namespace);
  const until = performance.now() + LOOK_MS_MAX;
  const slices = new Slices();
  /** By reasons: the first pod, and how many there are. */
  const found = new Map<string, { readonly first: string; count: number }>();
  let checked = 0;
  for (const name of names.slice(0, PODS_CHECKED_MAX)) {
    if (slices.due()) await slices.pause();
    signal.throwIfAborted();
    if (performance.now() > until) break;
    checked += 1;
    const pod = cluster.get(PODS, name, namespace);
    if (pod === undefined || settings.exemptRuntimeClasses.has(pod.spec.runtimeClassName ?? '')) continue;
    const why = reasonsOf(violationsOf(enforce, checkedPodOf(pod)));
    const known = found.get(why);
    if (known !== undefined) known.count += 1;
    else if (why !== '') found.set(why, { first: name, count: 1 });
  }
  if (checked < names.length) {
    warn?.(
      `new PodSecurity enforce level only checked against the first ${String(checked)} of ${String(names.length)} existing pods`,
    );
  }
  if (found.size === 0) return;
  const standard = goQuote(formatStandard(enforce));
  warn?.(
    `existing pods in namespace ${goQuote(namespace)} violate the new PodSecurity enforce level ${standard}`,
  );
  for (const line of [...found].map(([why, pods]) => `${podsText(pods)}: ${why}`).sort()) warn?.(line);
}

function podsText({ first, count }: { readonly first: string; readonly count: number }): string {
  if (count === 1) return first;
  return `${first} (and ${String(count - 1)} other ${count === 2 ? 'pod' : 'pods'})`;
}

function admitPod(
  attributes: AdmissionAttributes,
  { cluster, settings, metrics }: Pick<Look, 'cluster' | 'settings'> & Pick<Demands, 'metrics'>,
): void {
  const { object, oldObject, write } = attributes;
  const note = (key: string, value: string): void => write.annotate?.(`${POD_SECURITY_PREFIX}${key}`, value);
  const { group, resource } = write.endpoint.row;
  const isPod = group === PODS.group && resource === PODS.resource;
  if (object === undefined) return;
  const exemption = exemptionOf(attributes, settings);
  if (exemption !== undefined) {
    note('exempt', exemption);
    metrics.exempted(attributes);
    return;
  }
  const namespace: Namespace | undefined = cluster.get(NAMESPACES, write.namespace);
  const { policy, errors } = policyOf(namespace?.metadata.labels ?? {}, settings.defaults);
  const standards = isPod ? [policy.enforce, policy.audit, policy.warn] : [policy.audit, policy.warn];
  if (errors.length === 0 && standards.every(({ level }) => level === 'privileged')) {
    if (!isPod) return;
    note('enforce-policy', formatStandard(PRIVILEGED));
    metrics.evaluated(attributes, { mode: 'enforce', standard: policy.enforce, isDenied: false });
    return;
  }
  const pod = podIn(object, placeOf(group, resource) ?? []);
  if (pod === undefined) return;
  if (isPod && oldObject !== undefined && isAlike(object as Pod, oldObject as Pod)) return;
  if (settings.exemptRuntimeClasses.has(pod.spec.runtimeClassName ?? '')) {
    note('exempt', 'runtimeClass');
    metrics.exempted(attributes);
    return;
  }
  if (errors.length > 0) {
    metrics.failed(attributes);
    note(
      'error',
      `Failed to parse policy: ${errors.map(({ field, message }) => `${field}: ${message}`).join(', ')}`,
    );
  }
  admitBy(attributes, pod, { policy, isPod, note, metrics });
}

function exemptionOf(
  { write: { namespace, user } }: AdmissionAttributes,
  { exemptNamespaces, exemptUsers }: PodSecurityConfiguration,
): string | undefined {
  if (exemptNamespaces.has(namespace)) return 'namespace';
  return exemptUsers.has(user.name) ? 'user' : undefined;
}

interface Demands {
  readonly policy: Policy;
  /** Templates are only audited and warned about. */
  readonly isPod: boolean;
  readonly note: (key: string, value: string) => void;
  readonly metrics: PodSecurityMetrics;
}

function admitBy(
  attributes: AdmissionAttributes,
  pod: CheckedPod,
  { policy, isPod, note, metrics }: Demands,
): void {
  const found = (mode: keyof Policy): string => {
    const text = describe(policy[mode], violationsOf(policy[mode], pod));
    const isDenied = text !== '';
    // Audits and warnings count only if there is something to report.
    if (isDenied || mode === 'enforce')
      metrics.evaluated(attributes, { mode, standard: policy[mode], isDenied });
    return text;
  };
  if (isPod) note('enforce-policy', formatStandard(policy.enforce));
  const enforced = isPod ? found('enforce') : '';
  const audited = found('audit');
  if (audited !== '') note('audit-violations', `would violate PodSecurity ${audited}`);
  if (enforced !== '') throw refusal(attributes, `violates PodSecurity ${enforced}`);
  const warned = found('warn');
  if (warned !== '') attributes.write.warn?.(`would violate PodSecurity ${warned}`);
}

function describe(standard: Standard, violations: readonly Violation[]): string {
  return violations.length === 0 ? '' : `${goQuote(formatStandard(standard))}: ${detailsOf(violations)}`;
}

/** Returns the pod, or the template at this place in the object; undefined if there is none. */
function podIn(object: ApiObject, place: readonly string[]): CheckedPod | undefined {
  let found: unknown = object;
  for (const member of place) found = isJsonObject(found) ? found[member] : undefined;
  const { spec } = fieldsOf<{ readonly spec: unknown }>(found);
  return isJsonObject(spec) ? checkedPodOf(found as Pod) : undefined;
}

function checkedPodOf({
  metadata,
  spec,
}: {
  readonly metadata?: ObjectMeta;
  readonly spec: PodSpec;
}): CheckedPod {
  return { annotations: metadata?.annotations ?? {}, spec };
}

/** Returns whether an update changes nothing that the standards are about: only images and ephemeral containers may change. */
function isAlike(next: Pod, before: Pod): boolean {
  const imagesOf = ({ spec }: Pod): readonly unknown[] =>
    [spec.containers, spec.initContainers, spec.ephemeralContainers].map((list) =>
      (list ?? []).map(({ name, image }) => [name, image]),
    );
  return deepEqual(imagesOf(next), imagesOf(before));
}
