import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentSpec,
  VolumeAttachmentStatus,
} from '../../../../shared/api/types/storage-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { deepEqual } from '../../../../shared/object/clone';
import type { GroupVersion } from '../../../../shared/object/object';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource, withStatus } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import { validateInlineVolumeSpec } from '../core/persistent-volumes';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { invalidForEach } from '../rules/primitives';
import { csiDriverName } from '../rules/storage-drivers';

const MESSAGE_BYTES_MAX = 1024;
const METADATA_BYTES_MAX = 262_144;

/** An attachment is of one volume to one node for ever; its status tells how far it is. */
const volumeAttachmentRules: Pick<
  Strategy<VolumeAttachment>,
  'prepareForCreate' | 'prepareForUpdate' | 'validate' | 'validateNew' | 'validateUpdate' | 'subresources'
> = {
  prepareForCreate: (object, { via }) => (statusIsPart(via) ? object : withStatus(object, undefined)),
  prepareForUpdate: (next, { status }, { via }) => (statusIsPart(via) ? next : withStatus(next, status)),
  validate: ({ spec: { attacher, source, nodeName }, status }, { settings }) => [
    ...(attacher === '' ? [required('spec.attacher')] : []),
    ...validateSource(source, isOn(settings, 'CSIMigration')),
    ...invalidForEach(dns1123SubdomainProblems(nodeName), nodeName, 'spec.nodeName'),
    ...validateStatus(status),
  ],
  validateNew: ({ spec }, { via }) => (via.version === 'v1beta1' ? [] : validateNames(spec)),
  validateUpdate: ({ spec }, previous) =>
    deepEqual(spec, previous.spec) ? [] : [invalid('spec', inGo(spec), 'field is immutable')],
  subresources: {
    status: {
      ...statusSubresource,
      metadataChecks: 'all',
      validateUpdate: ({ status }) => validateStatus(status),
    },
  },
};

/** A source that holds a pointer is shown as JSON. */
function inGo(spec: VolumeAttachmentSpec): GoValue | VolumeAttachmentSpec {
  const { attacher, source, nodeName } = spec;
  if (source.persistentVolumeName !== undefined || source.inlineVolumeSpec !== undefined) return spec;
  const noSource = goStruct('storage.VolumeAttachmentSource', {
    PersistentVolumeName: '(*string)(nil)',
    InlineVolumeSpec: '(*core.PersistentVolumeSpec)(nil)',
  });
  return goStruct('storage.VolumeAttachmentSpec', {
    Attacher: goQuote(attacher),
    Source: String(noSource),
    NodeName: goQuote(nodeName),
  });
}

/** In v1beta1 the status is written with the object. */
function statusIsPart({ version }: GroupVersion): boolean {
  return version === 'v1beta1';
}

function validateSource(source: VolumeAttachmentSource, hasInline: boolean): FieldError[] {
  const path = 'spec.source';
  const { persistentVolumeName: volume, inlineVolumeSpec: inline } = source;
  if (inline !== undefined) {
    return volume === undefined
      ? validateInlineVolumeSpec(inline, `${path}.inlineVolumeSpec`)
      : [forbiddenField(path, 'must specify exactly one of inlineVolumeSpec and persistentVolumeName')];
  }
  if (volume === undefined) {
    const why = hasInline
      ? 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
      : 'must specify persistentVolumeName when CSIMigration feature is disabled';
    return [required(path, why)];
  }
  return volume === ''
    ? [required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')]
    : [];
}

/** Validates formats that v1beta1 does not require. */
function validateNames({ attacher, source }: VolumeAttachmentSpec): FieldError[] {
  const { persistentVolumeName: volume } = source;
  return [
    ...csiDriverName(attacher, 'spec.attacher'),
    ...(volume === undefined
      ? []
      : invalidForEach(dns1123SubdomainProblems(volume), volume, 'spec.source.persistentVolumeName')),
  ];
}

function validateStatus(status: VolumeAttachmentStatus | undefined): FieldError[] {
  const bytes = Object.entries(status?.attachmentMetadata ?? {}).reduce(
    (sum, each) => sum + Buffer.byteLength(each.join('')),
    0,
  );
  return [
    ...(bytes > METADATA_BYTES_MAX ? [tooLong('status.attachmentMetadata', '', METADATA_BYTES_MAX)] : []),
    ...(['attachError', 'detachError'] as const).flatMap((field) => {
      const { message = '' } = status?.[field] ?? {};
      return Buffer.byteLength(message) > MESSAGE_BYTES_MAX
        ? // Upstream tells another bound than the one that it looks at.
          [tooLong(`status.${field}.message`, message, METADATA_BYTES_MAX)]
        : [];
    }),
  ];
}

const volumeAttachmentTable = tableOf<VolumeAttachment>([
  NAME,
  { name: 'Attacher', format: 'name', cell: ({ spec }) => spec.attacher },
  { name: 'PV', cell: ({ spec }) => spec.source.persistentVolumeName ?? '' },
  { name: 'Node', cell: ({ spec }) => spec.nodeName },
  { name: 'Attached', type: 'boolean', cell: ({ status }) => status?.attached ?? false },
  AGE,
]);

export const volumeAttachments: Kind<VolumeAttachment> = {
  strategy: {
    statusLeavesMetadata: true,
    compat: { statusTakes: ['deletionGracePeriodSeconds', 'generateName'], returnsDeletedObject: true },
    requiresResourceVersion: true,
    ...volumeAttachmentRules,
  },
  table: volumeAttachmentTable,
};
