import { FINALIZER, LABEL } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, untilTooMany } from '../../../shared/errors/field-error';
import { record, strings } from '../../../shared/object/accessors';
import { validateFinalizerName } from '../../../shared/meta/validate-metadata';
import { isTerminating, withoutMetadata } from '../../registry/metadata';
import type { Strategy } from '../../registry/strategy';
import { configMapRules } from './config-maps-rules';
import { endpointsRules } from './endpoints-rules';
import { eventRules } from './events-rules';
import { limitRangeRules } from './limit-ranges-rules';
import { nodeRules } from './nodes-rules';
import { persistentVolumeClaimRules } from './persistent-volume-claims-rules';
import { persistentVolumeRules } from './persistent-volumes-rules';
import { resourceQuotaRules } from './resource-quotas-rules';
import { secretRules } from './secrets-rules';
import { statusSubresource, withStatus } from '../../registry/strategy';
import { pods } from './pods-strategy';
import { services } from './services-strategy';
import { coreWorkloads } from '../apps/strategies';

/**
 * A namespace starts Active, is held until its content is gone, and carries its own name as a label (on every write, so that the
 * label can be trusted by selectors). Its status and its finalizers change through their subresources alone.
 */
const namespaces: Strategy = {
  selectableFields: { 'status.phase': '' },
  prepareForCreate(object) {
    const held = new Set([...strings(record(object['spec'])['finalizers']), FINALIZER.namespaceContent]);
    return withNameLabel({ ...object, spec: { finalizers: [...held] }, status: { phase: 'Active' } });
  },
  prepareForUpdate: (next, previous) => withNameLabel({ ...next, spec: previous['spec'] }),
  validate: (object) => validateFinalizers(object, () => 'spec.finalizers'),
  // The first deletion only begins the termination, also of a namespace that nothing holds.
  holdsBack: (object) =>
    !isTerminating(object.metadata) || strings(record(object['spec'])['finalizers']).length > 0,
  markTerminating: (object) =>
    withStatus(withoutMetadata(object, 'deletionGracePeriodSeconds'), {
      ...record(object['status']),
      phase: 'Terminating',
    }),
  subresources: {
    status: {
      prepareForUpdate: (next, previous) => withNameLabel(statusSubresource.prepareForUpdate(next, previous)),
      validateUpdate: (next) => validatePhase(next),
    },
    finalize: {
      prepareForUpdate: (next, previous) =>
        withNameLabel({ ...previous, metadata: next.metadata, spec: next['spec'] }),
      validateUpdate: (next) => validateFinalizers(next, (index) => `spec.finalizers[${String(index)}]`),
    },
  },
};

function validateFinalizers(object: ApiObject, field: (index: number) => string): readonly FieldError[] {
  return untilTooMany(strings(record(object['spec'])['finalizers']), (finalizer, index) =>
    validateFinalizerName(finalizer, field(index)),
  );
}

/** Terminating and deletionTimestamp go together. */
function validatePhase(object: ApiObject): readonly FieldError[] {
  const phase = record(object['status'])['phase'];
  const terminating = isTerminating(object.metadata);
  if (terminating === (phase === 'Terminating')) return [];
  const why = terminating
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [invalid('status.Phase', phase ?? '', why)];
}

function withNameLabel(object: ApiObject): ApiObject {
  const { metadata } = object;
  if (metadata.name === undefined) return object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, [LABEL.metadataName]: metadata.name } },
  };
}

/** core/v1. Rows without an entry here are generic objects. */
export const core: Readonly<Record<string, Strategy>> = {
  namespaces,
  pods,
  configmaps: configMapRules,
  endpoints: { createsOnUpdate: true, ...endpointsRules },
  events: {
    ...eventRules,
    createsOnUpdate: true,
    expires: true,
    defaultPropagation: 'Unsupported',
    selectableFields: {
      'involvedObject.kind': '',
      'involvedObject.namespace': '',
      'involvedObject.name': '',
      'involvedObject.uid': '',
      'involvedObject.apiVersion': '',
      'involvedObject.resourceVersion': '',
      'involvedObject.fieldPath': '',
      reason: '',
      reportingComponent: '',
      source: '',
      type: '',
    },
    fieldSources: { source: ['source.component', 'reportingComponent'] },
    indexedFields: ['involvedObject.uid'],
  },
  limitranges: { createsOnUpdate: true, isNamedByUid: true, ...limitRangeRules },
  nodes: {
    ...nodeRules,
    keepsStatusOnCreate: true,
    selectableFields: { 'spec.unschedulable': 'false' },
  },
  persistentvolumeclaims: { returnsDeletedObject: true, ...persistentVolumeClaimRules },
  persistentvolumes: { returnsDeletedObject: true, ...persistentVolumeRules },
  ...coreWorkloads,
  resourcequotas: { returnsDeletedObject: true, ...resourceQuotaRules },
  secrets: { selectableFields: { type: '' }, ...secretRules },
  serviceaccounts: { returnsDeletedObject: true },
  services,
};
