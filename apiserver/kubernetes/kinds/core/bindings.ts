import { RESOURCE } from '../../../../shared/api/resource-names';
import type { Binding, Pod, PodStatus } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalidObject, notSupported, required } from '../../../../shared/errors/field-error';
import { badRequest, conflict, notFound } from '../../../../shared/errors/status-error';
import { GROUP } from '../../../../shared/names';
import { isTerminating, timestamp } from '../../../engine/registry/metadata';
import type { Operation } from '../../../engine/registry/operation';
import { writeOptimistically } from '../../../engine/registry/write';
import { writeTarget } from '../../../engine/registry/write-target';
import type { Kind } from '../kind';

const BINDING = { group: GROUP.core, resource: 'pods/binding' } as const;

const PRECONDITIONS = [
  ['UID', 'uid'],
  ['ResourceVersion', 'resourceVersion'],
] as const;

/** Puts a pod on a node, once: `pods/binding`, and `bindings`, where the Binding alone names the pod. */
export const bindPod: Operation = async ({ store, registry }, request, signal) => {
  // Decoded as what is sent there.
  const binding = request.object as Binding;
  const name = binding.metadata.name ?? '';
  if (request.name !== '' && request.name !== name) {
    throw badRequest('name in URL does not match name in Binding object');
  }
  if (name === '') throw badRequest('Name parameter required.');
  const errors = validateBinding(binding);
  if (errors.length > 0) throw invalidObject({ group: GROUP.core, kind: 'Binding' }, name, errors);
  const endpoint = registry().endpoint(GROUP.core, 'v1', 'pods');
  if (endpoint === undefined) throw notFound(RESOURCE.pods, name);
  const target = writeTarget(store, { ...request, endpoint, name, subresource: '' }, { assumeAbsent: false });
  await writeOptimistically(
    target,
    async (current) => {
      if (current === undefined) throw notFound(RESOURCE.pods, name);
      return Promise.resolve({
        kind: 'put',
        object: bound(current.object as Pod, binding, store.clock.now()),
      });
    },
    signal,
  );
  return undefined;
};

function validateBinding({ target }: Binding): readonly FieldError[] {
  const { kind = '', name = '' } = target;
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ];
}

/**
 * The pod on its node. Throws Conflict when it is on one already, or on its way out, or when the Binding has another uid or
 * resourceVersion. Source: BindingREST.Create, v1.36.
 */
function bound(pod: Pod, binding: Binding, nowMs: number): Pod {
  const name = pod.metadata.name ?? '';
  for (const [what, field] of PRECONDITIONS) {
    const { [field]: wanted = '' } = binding.metadata;
    const { [field]: found = '' } = pod.metadata;
    if (wanted === '' || wanted === found) continue;
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
    throw conflict(RESOURCE.pods, name, why);
  }
  const { nodeName = '' } = pod.spec;
  if (isTerminating(pod.metadata)) {
    throw conflict(BINDING, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (nodeName !== '') {
    throw conflict(BINDING, name, `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`);
  }
  const { annotations } = binding.metadata;
  const merged = { ...pod.metadata.annotations, ...annotations };
  return {
    ...pod,
    metadata: { ...pod.metadata, ...(Object.keys(merged).length === 0 ? {} : { annotations: merged }) },
    spec: { ...pod.spec, nodeName: binding.target.name ?? '' },
    status: withCondition(pod.status ?? {}, nowMs),
  };
}

/** The status with PodScheduled true; the time of the last change is kept when it was true before. */
function withCondition(status: PodStatus, nowMs: number): PodStatus {
  const { conditions = [] } = status;
  const at = conditions.findIndex(({ type }) => type === 'PodScheduled');
  const before = conditions[at];
  const since = before?.status === 'True' ? before.lastTransitionTime : timestamp(nowMs);
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: since ?? timestamp(nowMs),
  };
  const next = before === undefined ? [...conditions, scheduled] : conditions.with(at, scheduled);
  return { ...status, conditions: next };
}

export const bindings: Kind = { virtual: { create: bindPod } };
