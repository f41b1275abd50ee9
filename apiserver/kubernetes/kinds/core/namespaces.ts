import type { Namespace } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, validateUntilLimit } from '../../../../shared/errors/field-error';
import { labelName } from '../../../../shared/meta/name-rules';
import { validateFinalizerName } from '../../../../shared/meta/validate-metadata';
import { FINALIZER, LABEL } from '../../../../shared/names';
import { isTerminating, withoutMetadata } from '../../../engine/registry/metadata';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { statusSubresource, withStatus } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';

/**
 * A namespace starts Active, is held until its content is gone, and carries its own name as a label (on every write, so that the
 * label can be trusted by selectors). Its status and its finalizers change through their subresources alone.
 */
const namespaceStrategy: Strategy<Namespace> = {
  nameRule: labelName,
  isNamespace: true,
  compat: { refusesPreconditionsByResource: true },
  selectableFields: { 'status.phase': '' },
  prepareForCreate(object, { settings }) {
    const { finalizers: asked = [] } = object.spec;
    const own = FINALIZER.namespaceContent;
    const finalizers = asked.includes(own) ? asked : [...asked, own];
    return withNameLabel({ ...object, spec: { finalizers }, status: { phase: 'Active' } }, settings);
  },
  prepareForUpdate: (next, previous, { settings }) =>
    withNameLabel({ ...next, spec: previous.spec }, settings),
  validate: (object) => validateFinalizers(object, () => 'spec.finalizers'),
  // The first deletion only begins the termination, also of a namespace that nothing holds.
  holdsBack: (object) => !isTerminating(object.metadata) || (object.spec.finalizers ?? []).length > 0,
  markTerminating: (object) =>
    withStatus(withoutMetadata(object, 'deletionGracePeriodSeconds'), {
      ...object.status,
      phase: 'Terminating',
    }),
  subresources: {
    status: {
      prepareForUpdate: (next, previous, { settings }) =>
        withNameLabel(statusSubresource.prepareForUpdate(next, previous), settings),
      validateUpdate: (next) => validatePhase(next),
    },
    finalize: {
      prepareForUpdate: (next, previous, { settings }) =>
        withNameLabel({ ...previous, metadata: next.metadata, spec: next.spec }, settings),
      validateUpdate: (next) => validateFinalizers(next, (index) => `spec.finalizers[${String(index)}]`),
    },
  },
};

function validateFinalizers({ spec }: Namespace, field: (index: number) => string): readonly FieldError[] {
  return validateUntilLimit(spec.finalizers ?? [], (finalizer, index) =>
    validateFinalizerName(finalizer, field(index)),
  );
}

/** Terminating and deletionTimestamp go together. */
function validatePhase({ metadata, status }: Namespace): readonly FieldError[] {
  const phase = status?.phase;
  const terminating = isTerminating(metadata);
  if (phase === (terminating ? 'Terminating' : 'Active')) return [];
  const why = terminating
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [invalid('status.Phase', phase ?? '', why)];
}

/** One whose name is still to be made gets the label when it is stored. */
function withNameLabel(object: Namespace, settings: KindSettings): Namespace {
  const { metadata } = object;
  if ((metadata.name ?? '') === '' || !isOn(settings, 'NamespaceDefaultLabelName')) return object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, [LABEL.metadataName]: metadata.name ?? '' } },
  };
}

const namespaceTable = tableOf<Namespace>([
  NAME,
  { name: 'Status', cell: ({ status }) => status?.phase ?? '' },
  AGE,
]);

export const namespaces: Kind<Namespace> = {
  strategy: namespaceStrategy,
  table: namespaceTable,
  received: withNameLabel,
};
